"""In front of vLLM: its own continuous batching does better than ours, so requests pass through as they come.

``vllm serve`` runs beside this process, on the same container's loopback. This process adds what vLLM's own ``/health``
does not say (cores, buckets, the artifact), and refuses what is too long with 413. vLLM's Neuron plugin runs on Trn2
and Trn3 only (vllm-project/vllm-neuron). Nothing here was run with vLLM on Neuron.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from examples.serving.wire import refusal
from fleet.serving.buckets import Buckets, TooLongError
from workload.errors import RuntimeSickError
from workload.serving.health import Answer, Health
from workload.serving.watch import Watch

logger = logging.getLogger(__name__)
# A long answer takes minutes; the load balancer closes an idle connection after five.
_TIMEOUT: Final = aiohttp.ClientTimeout(total=300, sock_connect=5)
_AGAIN_SECONDS: Final = 1.0


@dataclass
class Front:
    """``address`` of vLLM; ``model`` as it calls it; ``is_well`` is what its own ``/health`` said last."""

    address: str
    model: str
    buckets: Buckets
    health: Health
    held_cores: Callable[[], int]
    restart: Callable[[], None]
    again_seconds: float = _AGAIN_SECONDS
    is_well: bool = False

    def answer(self) -> None:
        """For the watch; the loop asks vLLM, once a second."""
        if not self.is_well:
            raise RuntimeSickError("vLLM's /health does not answer with 200")


def application(front: Front) -> FastAPI:
    """``front`` as an ASGI application."""
    app = FastAPI(lifespan=lambda app: _running(front, app), openapi_url=None)

    @app.get("/healthz/live")
    def live() -> JSONResponse:
        return _told(front.health.live())

    @app.get("/healthz/ready")
    def ready() -> JSONResponse:
        return _told(front.health.ready())

    @app.post("/v1/{api}", response_model=None)
    async def forward(api: str, request: Request) -> Response:
        session: aiohttp.ClientSession = app.state.session
        body = await request.body()
        try:
            for length in await _lengths(front, session, json.loads(body)):
                front.buckets.length_for(length)
            async with session.post(f"{front.address}/v1/{api}", data=body, headers=_JSON) as answer:
                return Response(await answer.read(), answer.status, media_type=answer.content_type)
        except TooLongError as error:
            return refusal(413, str(error), "context_length_exceeded", limit=error.limit)
        except (ValueError, AttributeError):
            return refusal(400, "the body is no request in JSON", "invalid_json")
        except (aiohttp.ClientError, TimeoutError):
            return refusal(502, "the model does not answer", "no_answer")

    return app


_JSON: Final = {"Content-Type": "application/json"}


def _told(answer: Answer) -> JSONResponse:
    return JSONResponse(answer.body, answer.status)


async def _lengths(front: Front, session: aiohttp.ClientSession, fields: dict[str, Any]) -> list[int]:
    """Of each of its texts in tokens; vLLM knows how it splits them."""
    inputs = fields.get("prompt", fields.get("input", ""))
    if isinstance(inputs, list) and all(isinstance(each, int) for each in inputs):
        return [len(inputs)]
    several = [inputs] if isinstance(inputs, str) else inputs
    return [len(each) if isinstance(each, list) else await _count(front, session, each) for each in several]


async def _count(front: Front, session: aiohttp.ClientSession, text: str) -> int:
    asked = json.dumps({"model": front.model, "prompt": text})
    async with session.post(f"{front.address}/tokenize", data=asked, headers=_JSON) as answer:
        answer.raise_for_status()
        return int((await answer.json())["count"])


@contextlib.asynccontextmanager
async def _running(front: Front, app: FastAPI) -> AsyncIterator[None]:
    watch = Watch(front.health, front, front.restart)
    # No limit on connections: how many are executed together is vLLM's to decide.
    async with aiohttp.ClientSession(timeout=_TIMEOUT, connector=aiohttp.TCPConnector(limit=0)) as session:
        app.state.session = session
        tasks = [asyncio.create_task(_ask(front, session)), asyncio.create_task(_warm(front, session))]
        watch.start()
        try:
            yield
        finally:
            watch.stop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(front: Front, session: aiohttp.ClientSession) -> None:
    while True:
        try:
            async with session.get(f"{front.address}/health", timeout=aiohttp.ClientTimeout(total=4)) as answer:
                front.is_well = answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            front.is_well = False
        await asyncio.sleep(front.again_seconds)


async def _warm(front: Front, session: aiohttp.ClientSession) -> None:
    """Run every bucket once; one that fails is tried again, and until then the task is not ready."""
    for length, batch in sorted(front.buckets.shapes):
        while not (front.is_well and await _run_once(front, session, length, batch)):
            await asyncio.sleep(front.again_seconds)
        front.health.ran(length, batch)


async def _run_once(front: Front, session: aiohttp.ClientSession, length: int, batch: int) -> bool:
    # One token less than the bucket: the longest has no room for the answer otherwise.
    body = json.dumps({"model": front.model, "prompt": [1] * max(1, length - 1), "max_tokens": 1})
    address = f"{front.address}/v1/completions"

    async def one() -> int:
        async with session.post(address, data=body, headers=_JSON) as answer:
            await answer.read()
            return answer.status

    try:
        statuses = await asyncio.gather(*(one() for _ in range(batch)))
    except (aiohttp.ClientError, TimeoutError):
        return False
    return set(statuses) == {200}
