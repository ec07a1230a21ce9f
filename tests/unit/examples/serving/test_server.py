"""The example server over HTTP, in this process: buckets at their boundaries, health, batches, failures, figures."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.serving.app import Server, application
from examples.serving.standin import StandIn
from examples.serving.wire import BUCKET_HEADER
from fleet.serving.buckets import DEFAULT_LENGTHS, Buckets
from fleet.serving.readiness import Expected
from fleet.shadow.requests import EMBEDDINGS, Answer, answer_in
from workload.node_agent import Figures
from workload.serving.health import Health
from workload.serving.memory import HostMemory

BUCKETS = Buckets(DEFAULT_LENGTHS, (1, 4))
Asking = Callable[[httpx.AsyncClient, Server], Awaitable[Any]]


class Told(Figures):
    def __init__(self) -> None:
        super().__init__(Path("/nowhere"))
        self.lines: list[str] = []

    def _send(self, line: str) -> None:
        self.lines.append(line)


def server(tmp_path: Path, model: StandIn, wrong: str = "", ended: list[str] | None = None) -> Server:
    expected = Expected(2, BUCKETS.shapes, "neuron-artifacts/chat/1")
    health = Health(expected, HostMemory(tmp_path / "host", "boot"), lambda: 0.0)
    gone = [] if ended is None else ended
    return Server(BUCKETS, model, health, Told(), lambda: wrong, lambda: gone.append("ended"), report_seconds=0.02)


@asynccontextmanager
async def client(of: Server) -> AsyncIterator[httpx.AsyncClient]:
    app = application(of)
    talking = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server")
    async with app.router.lifespan_context(app), talking:
        yield talking


def ask(of: Server, asking: Asking, *, loaded: bool = True) -> Any:
    async def talk() -> Any:
        async with client(of) as talking:
            for _ in range(500):
                if not loaded or of.is_loaded:
                    break
                await asyncio.sleep(0.01)
            return await asking(talking, of)

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("length", "bucket"), [(1, 128), (127, 128), (128, 128), (129, 256), (2047, 2048), (2048, 2048)]
)
@pytest.mark.parametrize(("path", "key"), [("/v1/completions", "prompt"), ("/v1/embeddings", "input")])
def test_every_boundary_is_padded_to_the_right_bucket(
    tmp_path: Path, path: str, key: str, length: int, bucket: int
) -> None:
    model = StandIn()
    answer = ask(server(tmp_path, model), lambda talking, _: talking.post(path, json={key: [1] * length}))

    assert (answer.status_code, answer.headers[BUCKET_HEADER]) == (200, str(bucket))
    assert model.batches[-1] == (bucket, 1)
    assert answer.json()["usage"]["prompt_tokens"] == length


@pytest.mark.parametrize(("path", "key"), [("/v1/completions", "prompt"), ("/v1/embeddings", "input")])
def test_what_is_longer_than_every_bucket_is_refused_with_the_limit(tmp_path: Path, path: str, key: str) -> None:
    model = StandIn()
    warm = len(BUCKETS.shapes)
    answer = ask(server(tmp_path, model), lambda talking, _: talking.post(path, json={key: [1] * 2049}))

    assert answer.status_code == 413
    assert answer.json()["error"]["limit"] == 2048
    assert "at most 2048" in answer.json()["error"]["message"]
    assert len(model.batches) == warm


def test_all_buckets_run_once_before_it_is_ready(tmp_path: Path) -> None:
    model = StandIn()

    async def look(talking: httpx.AsyncClient, of: Server) -> tuple[int, int]:
        of.health.probed("", 2)
        return (await talking.get("/healthz/live")).status_code, (await talking.get("/healthz/ready")).status_code

    assert ask(server(tmp_path, model), look) == (200, 200)
    assert set(model.batches) == set(BUCKETS.shapes)


def test_sagemakers_names_are_names_of_the_same(tmp_path: Path) -> None:
    async def look(talking: httpx.AsyncClient, of: Server) -> list[Any]:
        before = (await talking.get("/ping")).status_code
        of.health.probed("", 2)
        asked = {"prompt": "a", "max_tokens": 1}
        made = [
            (await talking.post(path, json=asked)).json()["choices"] for path in ("/invocations", "/v1/completions")
        ]
        return [before, (await talking.get("/ping")).status_code, made[0] == made[1]]

    assert ask(server(tmp_path, StandIn()), look) == [503, 200, True]


def test_while_it_loads_it_is_live_and_gives_no_answers(tmp_path: Path) -> None:
    async def look(talking: httpx.AsyncClient, of: Server) -> list[int]:
        paths = [talking.get("/healthz/live"), talking.get("/healthz/ready")]
        asked = talking.post("/v1/completions", json={"prompt": "a"})
        return [(await each).status_code for each in (*paths, asked)]

    assert ask(server(tmp_path, StandIn(load_seconds=0.5)), look, loaded=False) == [200, 503, 503]


def test_the_wrong_artifact_is_never_loaded_and_named_for_ever(tmp_path: Path) -> None:
    model = StandIn()

    async def look(talking: httpx.AsyncClient, of: Server) -> Any:
        await asyncio.sleep(0.05)
        return (await talking.get("/healthz/live")).status_code, (await talking.get("/healthz/ready")).json()

    live, ready = ask(server(tmp_path, model, wrong="a graph differs"), look, loaded=False)
    assert (live, ready["checks"]["artifact"]) == (200, {"holds": False, "detail": "a graph differs"})
    assert model.batches == []


def test_a_model_that_cannot_be_loaded_ends_the_process_once(tmp_path: Path) -> None:
    class Broken(StandIn):
        def load(self) -> None:
            raise RuntimeError("NRT_INIT failed")

    async def look(talking: httpx.AsyncClient, of: Server) -> Any:
        await asyncio.sleep(0.05)
        return (await talking.get("/healthz/live")).json()

    ended: list[str] = []
    said = ask(server(tmp_path, Broken(), ended=ended), look, loaded=False)
    assert said == {"live": False, "reason": "loading failed: RuntimeError: NRT_INIT failed"}
    again = ask(server(tmp_path, Broken(), ended=ended), look, loaded=False)
    # The second process stays: the host is given up.
    assert (ended, again["live"]) == (["ended"], True)


def test_requests_that_wait_share_an_execution(tmp_path: Path) -> None:
    model = StandIn(seconds=0.05)

    async def many(talking: httpx.AsyncClient, of: Server) -> list[int]:
        model.batches.clear()
        asked = (talking.post("/v1/completions", json={"prompt": "a b", "max_tokens": 3}) for _ in range(9))
        return [each.status_code for each in await asyncio.gather(*asked)]

    assert ask(server(tmp_path, model), many) == [200] * 9
    assert sorted(size for _, size in model.batches) in ([1, 4, 4], [1, 4, 4, 4], [4, 4, 4])


def test_a_failed_execution_fails_its_requests_and_no_others(tmp_path: Path) -> None:
    model = StandIn()

    async def two(talking: httpx.AsyncClient, of: Server) -> list[int]:
        return [(await talking.post("/v1/completions", json={"prompt": "a"})).status_code for _ in range(4)]

    of = server(tmp_path, model)

    async def asking(talking: httpx.AsyncClient, of: Server) -> list[int]:
        # Not before: warming up would meet the failures first.
        model.error_every = 2
        return await two(talking, of)

    assert sorted(ask(of, asking)) == [200, 200, 500, 500]


def test_figures_are_told_to_the_agent(tmp_path: Path) -> None:
    of = server(tmp_path, StandIn())

    async def look(talking: httpx.AsyncClient, of: Server) -> list[str]:
        await talking.post("/v1/completions", json={"prompt": "a b c", "max_tokens": 5})
        await asyncio.sleep(0.1)
        assert isinstance(of.figures, Told)
        return of.figures.lines

    lines = ask(of, look)
    assert "neuron_fleet.tokens:5|c" in lines
    assert "neuron_fleet.requests_in_flight:0|g" in lines
    assert any(line.startswith("neuron_fleet.queue_seconds:") for line in lines)


def test_the_answers_are_openai_s(tmp_path: Path) -> None:
    async def both(talking: httpx.AsyncClient, of: Server) -> list[Any]:
        done = await talking.post("/v1/completions", json={"prompt": ["a", "b c"], "max_tokens": 2, "stream": False})
        vectors = await talking.post("/v1/embeddings", json={"input": ["a b", "c"]})
        return [done.json(), vectors.json()]

    done, vectors = ask(server(tmp_path, StandIn()), both)
    assert [choice["text"] for choice in done["choices"]] == ["word word", "word word"]
    assert done["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert [each["embedding"] for each in vectors["data"]] == [[2.0, 1.0], [1.0, 1.0]]


def test_several_inputs_may_be_tokens(tmp_path: Path) -> None:
    answer = ask(
        server(tmp_path, StandIn()), lambda talking, _: talking.post("/v1/embeddings", json={"input": [[1, 2, 3], [4]]})
    )

    assert [each["embedding"] for each in answer.json()["data"]] == [[3.0, 1.0], [1.0, 1.0]]


def test_embeddings_are_packed_for_the_client_that_asks_for_it(tmp_path: Path) -> None:
    body = {"input": "a b", "encoding_format": "base64"}
    answer = ask(server(tmp_path, StandIn()), lambda talking, _: talking.post("/v1/embeddings", json=body))

    # 2.0 and 1.0 as little-endian floats of 32 bits.
    assert answer.json()["data"][0]["embedding"] == "AAAAQAAAgD8="
    assert answer_in(EMBEDDINGS, answer.json()) == Answer(vectors=((2.0, 1.0),))


def test_a_client_may_leave_the_number_of_tokens_open(tmp_path: Path) -> None:
    body = {"prompt": "a", "max_tokens": None}
    answer = ask(server(tmp_path, StandIn()), lambda talking, _: talking.post("/v1/completions", json=body))

    assert answer.json()["usage"]["completion_tokens"] == 16


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": []}, "prompt: it must be a text, texts, the tokens of one, or of several, and not empty"),
        ({"prompt": [[]]}, "prompt: it must be a text, texts, the tokens of one, or of several, and not empty"),
        ({"prompt": ["a", 1]}, "prompt: it must be a text, texts, the tokens of one, or of several, and not empty"),
        ({"prompt": "a", "stream": True}, "stream: answers are not streamed here; leave it out"),
        ({"prompt": "a", "max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    ],
)
def test_what_it_cannot_answer_is_refused_in_a_line(tmp_path: Path, body: dict[str, Any], message: str) -> None:
    answer = ask(server(tmp_path, StandIn()), lambda talking, _: talking.post("/v1/completions", json=body))

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)


def test_what_is_no_json_is_refused_in_a_line(tmp_path: Path) -> None:
    json = {"content-type": "application/json"}
    answer = ask(
        server(tmp_path, StandIn()),
        lambda talking, _: talking.post("/v1/completions", content=b'{"prompt": "a",', headers=json),
    )

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "body: JSON decode error")


def test_the_model_is_listed(tmp_path: Path) -> None:
    answer = ask(server(tmp_path, StandIn()), lambda talking, _: talking.get("/v1/models"))

    assert [each["id"] for each in answer.json()["data"]] == ["model"]
