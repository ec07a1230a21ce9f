"""The candidate answers what was recorded, at the pace at which it came, and stops when a client comes."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from fleet.shadow import places
from fleet.shadow.requests import COMPLETIONS, EMBEDDINGS, Answer
from fleet.shadow.sample import Batch, Left, Sample, encode
from tests.support.shadow import Bucket
from workload.errors import ServingError
from workload.serving.shadow.replay import Replay, newest_batches
from workload.serving.shadow.tap import Message, Receive, Send, Tap
from workload.serving.shadow.task import Task

TASK = Task("chat:8", "t9", is_candidate=True)
KEY = "reports/chat/chat:8/t9.json"


class Model:
    """Answers with the prompt, or as ``says`` has it; ``times`` is when it was asked."""

    def __init__(self, says: Callable[[str], Any] = lambda prompt: prompt) -> None:
        self.says, self.times = says, list[float]()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.times.append(time.monotonic())
        fields = json.loads((await receive())["body"])
        if scope["path"] == EMBEDDINGS:
            content: dict[str, Any] = {"data": [{"index": 0, "embedding": self.says(fields["input"])}]}
        else:
            content = {"choices": [{"index": 0, "text": self.says(fields["prompt"])}]}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})


def completion(number: int, gap: float = 0.0) -> Sample:
    body = json.dumps({"prompt": f"p{number}", "temperature": 0})
    return Sample(f"r{number}", 1000.0 + number * gap, COMPLETIONS, body, Answer(texts=(f"p{number}",)), 0.2)


def recorded(*samples: Sample, version: str = "chat:7", ago: float = 60.0, left: Left | None = None) -> Bucket:
    batch = Batch(version, "t1", samples, left or Left())
    return Bucket({places.sample("chat", time.time() - ago, version, "t1"): encode(batch)})


def replay(bucket: Bucket, model: Any, enough: int = 3, again: float = 0.01) -> tuple[Tap, Replay]:
    tap = Tap(model, 100.0)
    return tap, Replay(tap, bucket, TASK, fleet="chat", min_requests=enough, cosine=0.999, again=again)


def report(bucket: Bucket) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bucket.objects[KEY])
    return found


def run(of: Replay, is_ready: Callable[[], bool] = lambda: True) -> None:
    asyncio.run(asyncio.wait_for(of.run(is_ready), 20))


def test_equal_answers_are_reported_by_the_task_that_gave_them() -> None:
    bucket = recorded(*(completion(n) for n in range(5)), left=Left(chance=4))
    run(replay(bucket, Model())[1])

    found = report(bucket)
    assert (found["version"], found["task"], found["recorded_version"]) == ("chat:8", "t9", "chat:7")
    assert (found["equal"], found["different"], found["failed"], found["left"]["chance"]) == (5, 0, 0, 4)
    assert found["latency"]["recorded_p50"] == 0.2


def test_other_answers_and_failures_are_reported_without_prompts() -> None:
    def says(prompt: str) -> str:
        if prompt == "p3":
            raise RuntimeError("NRT_EXEC failed")
        return prompt.replace("p1", "something else")

    bucket = recorded(*(completion(n) for n in range(5)))
    run(replay(bucket, Model(says))[1])

    found = report(bucket)
    assert (found["equal"], found["different"], found["failed"]) == (3, 1, 1)
    assert [each["request_id"] for each in found["worst"]] == ["r1"]
    assert "p1" not in bucket.objects[KEY].decode()


def test_embeddings_are_compared_by_their_angle() -> None:
    body = json.dumps({"input": "a"})
    samples = [Sample(f"r{n}", 1.0 + n, EMBEDDINGS, body, Answer(vectors=((1.0, 0.0),)), 0.1) for n in range(3)]
    close, far = recorded(*samples), recorded(*samples)
    run(replay(close, Model(lambda _: [2.0, 0.01]))[1])
    run(replay(far, Model(lambda _: [1.0, 0.5]))[1])

    assert (report(close)["equal"], report(far)["different"]) == (3, 3)


def test_it_keeps_the_pace_and_asks_the_newest() -> None:
    bucket, model = recorded(*(completion(n, gap=0.1) for n in range(9))), Model()
    run(replay(bucket, model)[1])

    # Twice as many as are enough.
    assert len(model.times) == 6
    assert model.times[-1] - model.times[0] >= 0.45


def test_it_waits_until_the_task_is_ready() -> None:
    bucket, model, asked = recorded(*(completion(n) for n in range(3))), Model(), [0]

    def is_ready() -> bool:
        asked[0] += 1
        assert model.times == []
        return asked[0] > 1

    run(replay(bucket, model)[1], is_ready)
    assert report(bucket)["equal"] == 3


def test_too_few_are_reported_and_asked_again_when_there_are_more() -> None:
    bucket = recorded(completion(0))

    class Filling(Bucket):
        def put(self, key: str, content: bytes) -> None:
            super().put(key, content)
            self.objects |= recorded(*(completion(n) for n in range(3)), ago=30.0).objects

    filling = Filling(dict(bucket.objects))
    run(replay(filling, Model())[1])
    assert report(filling)["equal"] == 3


class Slow(Model):
    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await asyncio.sleep(1)
        await super().__call__(scope, receive, send)


# Between two requests; and after the last, of which the answer is still to come.
@pytest.mark.parametrize(("model", "gap", "most"), [(Model(), 0.5, 2), (Slow(), 0.0, 6)])
def test_a_client_ends_it_without_a_report_and_without_another_request(model: Model, gap: float, most: int) -> None:
    bucket = recorded(*(completion(n, gap) for n in range(6)))
    tap, of = replay(bucket, model)

    async def both() -> None:
        running = asyncio.create_task(of.run(lambda: True))
        await asyncio.sleep(0.7)
        tap.asked += 1
        await asyncio.wait_for(running, 5)
        await asyncio.sleep(0.1)

    asyncio.run(both())
    assert KEY not in bucket.objects
    assert len(model.times) <= most


def test_a_client_ends_what_the_model_still_thinks_about() -> None:
    ended = list[bool]()

    async def thinks(scope: Message, receive: Receive, send: Send) -> None:
        try:
            await asyncio.sleep(300)
        finally:
            ended.append(True)

    bucket = recorded(*(completion(n) for n in range(3)))
    tap, of = replay(bucket, thinks)

    async def talk() -> None:
        running = asyncio.create_task(of.run(lambda: True))
        await asyncio.sleep(0.3)
        tap.asked += 1
        await asyncio.wait_for(running, 10)
        # What was told to end does so at its next turn.
        await asyncio.sleep(0)

    asyncio.run(talk())
    assert ended == [True] * 3
    assert KEY not in bucket.objects


def test_a_bucket_that_refuses_is_asked_again() -> None:
    bucket = recorded(*(completion(n) for n in range(3)))
    bucket.refuses = "s3://b: SlowDown"
    _, of = replay(bucket, Model())

    async def both() -> None:
        running = asyncio.create_task(of.run(lambda: True))
        await asyncio.sleep(0.1)
        bucket.refuses = ""
        await asyncio.wait_for(running, 5)

    asyncio.run(both())
    assert report(bucket)["equal"] == 3


def test_only_what_the_last_version_answered_is_compared() -> None:
    bucket = recorded(completion(1), version="chat:6", ago=300.0)
    bucket.objects |= recorded(completion(2), version="chat:7", ago=60.0).objects

    assert [batch.version for batch in newest_batches(bucket, "chat", 10)] == ["chat:7"]


def test_a_quiet_endpoints_samples_are_looked_for_a_day_back_and_not_further() -> None:
    bucket = recorded(completion(1), ago=3 * 3600.0)
    bucket.objects |= recorded(completion(2), ago=25 * 3600.0).objects

    assert [batch.samples[0].request_id for batch in newest_batches(bucket, "chat", 10)] == ["r1"]


def test_an_object_that_is_no_batch_is_passed_over() -> None:
    bucket = recorded(completion(1))
    bucket.objects[places.sample("chat", time.time(), "chat:7", "t2")] = b"{"

    assert len(newest_batches(bucket, "chat", 10)) == 1
    bucket.refuses = "gone"
    with pytest.raises(ServingError):
        newest_batches(bucket, "chat", 10)
