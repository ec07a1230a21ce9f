"""What the process is told, which task it is, what it then does; and that nothing of it is in the application's way."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.stub import Stubber

from tests.support.shadow import ecs_agent
from workload.errors import ServingError
from workload.serving.shadow import task
from workload.serving.shadow.adapters import S3Bucket
from workload.serving.shadow.application import Shadowed, shadowed
from workload.serving.shadow.recorder import Recorder
from workload.serving.shadow.settings import ShadowSettings, read
from workload.serving.shadow.tap import Message, Receive, Send
from workload.serving.shadow.task import Task, identify

TOLD = {
    "AWS_REGION": "us-east-2",
    "ECS_CONTAINER_METADATA_URI_V4": "http://127.0.0.1:1/v4/c1",
    "NEURON_FLEET_SHADOW_BUCKET": "shadow",
    "NEURON_FLEET_SHADOW_FLEET": "chat",
    "NEURON_FLEET_SHADOW_CANDIDATES": "prod-chat-candidate",
    "NEURON_FLEET_SHADOW_PERCENT": "5.0",
    "NEURON_FLEET_SHADOW_REQUESTS": "100",
    "NEURON_FLEET_SHADOW_COSINE": "0.999",
}


# Filled by the application, read by the server: ASGI, "Lifespan State".
STATE: Message = {}


async def app(scope: Message, receive: Receive, send: Send) -> None:
    assert scope["type"] == "lifespan"
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def settings(**changes: str) -> ShadowSettings:
    found = read({**TOLD, **changes})
    assert found is not None
    return found


def live(of: Any, until: Callable[[], bool], said: list[str]) -> None:
    """Start it, let it live, end it; what it says goes into ``said``."""

    async def send(message: Message) -> None:
        said.append(message["type"])

    async def talk() -> None:
        messages: asyncio.Queue[Message] = asyncio.Queue()
        await messages.put({"type": "lifespan.startup"})
        running = asyncio.create_task(of({"type": "lifespan", "state": STATE}, messages.get, send))
        end = time.monotonic() + 60
        while not until():
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        await messages.put({"type": "lifespan.shutdown"})
        await asyncio.wait_for(running, 10)

    asyncio.run(talk())


def test_without_a_bucket_there_is_no_shadow() -> None:
    assert read({}) is None
    assert shadowed(app, None, lambda: True) is app


@pytest.mark.parametrize("missing", sorted(TOLD.keys() - {"NEURON_FLEET_SHADOW_BUCKET"}))
def test_half_of_it_is_a_mistake_that_is_named(missing: str) -> None:
    with pytest.raises(ServingError, match=f"^{missing} is not set, and NEURON_FLEET_SHADOW_BUCKET is$"):
        read({name: value for name, value in TOLD.items() if name != missing})


def test_what_is_no_number_is_named() -> None:
    with pytest.raises(ServingError, match="NEURON_FLEET_SHADOW_PERCENT"):
        settings(NEURON_FLEET_SHADOW_PERCENT="many")


def test_the_cluster_says_on_which_side_a_task_is() -> None:
    with ecs_agent("chat:8", "prod-chat-candidate", "t1", fails=1) as address:
        assert identify(address, "prod-chat-candidate", lambda _: None) == Task("chat:8", "t1", True)
        assert identify(address, "prod-chat", lambda _: None) == Task("chat:8", "t1", False)


def test_an_agent_that_does_not_answer_is_asked_five_times() -> None:
    pauses: list[float] = []
    with pytest.raises(ServingError, match="does not say which task this is"):
        identify("http://127.0.0.1:1/v4", "c", pauses.append)
    assert len(pauses) == 5


def test_on_the_stable_side_it_records_until_the_application_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "identify", lambda *_: Task("chat:7", "t1", False))
    said: list[str] = []
    monkeypatch.setattr(Recorder, "stop", lambda _: said.append("written"))
    of = Shadowed(app, settings(), lambda: True)

    live(of, lambda: of.tap.taker is not None, said)
    assert of.tap.state is STATE
    # The process is gone after the last of these.
    assert said == ["lifespan.startup.complete", "written", "lifespan.shutdown.complete"]


def test_a_task_that_does_not_know_its_side_serves_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> Task:
        raise ServingError("the ECS agent does not say which task this is: timed out")

    monkeypatch.setattr(task, "identify", fail)
    of = Shadowed(app, settings(), lambda: True)
    said: list[str] = []
    with caplog.at_level(logging.WARNING):
        live(of, lambda: "neither" in caplog.text, said)
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert of.tap.taker is None
    assert "neither recorded nor compared: the ECS agent does not say" in caplog.text


def stubbed() -> tuple[S3Bucket, Stubber]:
    bucket = S3Bucket("shadow", "us-east-2")
    return bucket, Stubber(bucket._client)


def test_names_are_read_page_by_page() -> None:
    bucket, stub = stubbed()
    first = {"Bucket": "shadow", "Prefix": "samples/chat/", "StartAfter": "samples/chat/2026"}
    more = {"IsTruncated": True, "NextContinuationToken": "2", "Contents": [{"Key": "a"}]}
    stub.add_response("list_objects_v2", more, first)
    stub.add_response("list_objects_v2", {"Contents": [{"Key": "b"}]}, {**first, "ContinuationToken": "2"})
    with stub:
        assert bucket.keys("samples/chat/", "samples/chat/2026") == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "ask"),
    [
        ("put_object", lambda bucket: bucket.put("k", b"")),
        ("get_object", lambda bucket: bucket.get("k")),
        ("list_objects_v2", lambda bucket: bucket.keys("k", "")),
    ],
)
def test_what_s3_refuses_is_one_line(call: str, ask: Any) -> None:
    bucket, stub = stubbed()
    stub.add_client_error(call, "AccessDenied", "no\nway", 403)
    with stub, pytest.raises(ServingError, match=r"^s3://shadow/k: .*AccessDenied.* no way$"):
        ask(bucket)
