"""In front of vLLM: requests pass, what is too long does not, and health is more than vLLM's own."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from examples.serving.vllm import Front, application
from fleet.serving.buckets import Buckets
from fleet.serving.readiness import Expected
from workload.serving.health import Health
from workload.serving.memory import HostMemory

BUCKETS = Buckets((128, 256), (1, 2))
Asking = Callable[[httpx.AsyncClient, Front], Awaitable[Any]]


class Vllm:
    """Its routes, as far as they are asked."""

    def __init__(self) -> None:
        self.is_well = True
        self.asked: list[dict[str, Any]] = []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/health", self._health)
        app.router.add_post("/tokenize", self._tokenize)
        app.router.add_post("/v1/completions", self._complete)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(status=200 if self.is_well else 500)

    async def _tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"count": len((await request.json())["prompt"].split())})

    async def _complete(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        return web.json_response({"choices": [{"text": "so"}]})


def ask(tmp_path: Path, vllm: Vllm, asking: Asking) -> Any:
    async def talk() -> Any:
        runner = web.AppRunner(vllm.app())
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        health = Health(Expected(8, BUCKETS.shapes), HostMemory(tmp_path, "b"), lambda: 0.0)
        front = Front(f"http://127.0.0.1:{port}", "chat", BUCKETS, health, lambda: 8, lambda: None, 0.01)
        app = application(front)
        talking = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://front")
        try:
            async with app.router.lifespan_context(app), talking:
                return await asking(talking, front)
        finally:
            await runner.cleanup()

    return asyncio.run(talk())


async def warmed(front: Front) -> None:
    for _ in range(500):
        if front.health.ready().body["checks"]["buckets"]["holds"]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(front.health.ready().body)


def test_every_bucket_runs_once_and_requests_pass_through(tmp_path: Path) -> None:
    vllm = Vllm()

    async def asking(talking: httpx.AsyncClient, front: Front) -> Any:
        await warmed(front)
        front.health.probed("", 8)
        ready = await talking.get("/healthz/ready")
        return ready, await talking.post("/v1/completions", json={"prompt": "a b", "temperature": 0.3})

    ready, answer = ask(tmp_path, vllm, asking)
    assert (ready.status_code, answer.json()) == (200, {"choices": [{"text": "so"}]})
    assert [len(each["prompt"]) for each in vllm.asked[:-1]] == [127, 127, 127, 255, 255, 255]
    assert vllm.asked[-1] == {"prompt": "a b", "temperature": 0.3}


@pytest.mark.parametrize("prompt", [[1] * 257, "word " * 257, ["a", "word " * 257], [[1], [1] * 257]])
def test_what_is_too_long_never_reaches_it(tmp_path: Path, prompt: object) -> None:
    vllm = Vllm()

    async def asking(talking: httpx.AsyncClient, front: Front) -> Any:
        await warmed(front)
        return await talking.post("/v1/completions", json={"prompt": prompt})

    answer = ask(tmp_path, vllm, asking)
    assert (answer.status_code, answer.json()["error"]["limit"]) == (413, 256)
    assert all(len(each["prompt"]) < 257 for each in vllm.asked)


def test_while_vllm_is_not_well_no_bucket_runs(tmp_path: Path) -> None:
    vllm = Vllm()
    vllm.is_well = False

    async def asking(talking: httpx.AsyncClient, front: Front) -> Any:
        await asyncio.sleep(0.1)
        return (await talking.get("/healthz/ready")).json()

    assert ask(tmp_path, vllm, asking)["checks"]["buckets"]["detail"].startswith("4 of 4 have not run")
    assert vllm.asked == []


def test_what_is_no_request_is_refused(tmp_path: Path) -> None:
    async def asking(talking: httpx.AsyncClient, front: Front) -> Any:
        return [(await talking.post("/v1/completions", content=each)).status_code for each in (b"{", b"[]")]

    assert ask(tmp_path, Vllm(), asking) == [400, 400]
