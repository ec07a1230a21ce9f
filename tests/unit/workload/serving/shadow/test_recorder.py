"""The recorder keeps what can be compared, counts the rest, and never lets anybody wait."""

import json
import logging
import threading
import time
from typing import Any

import pytest

from fleet.shadow.requests import Answer
from fleet.shadow.sample import Batch, Left, decode
from tests.support.shadow import Bucket
from workload.serving.shadow.recorder import Recorder
from workload.serving.shadow.tap import Exchange
from workload.serving.shadow.task import Task

TASK = Task("chat:7", "t1", is_candidate=False)
BODY = b'{"prompt": "a", "temperature": 0}'
ANSWER = b'{"choices": [{"index": 0, "text": "so"}]}'


class Clock:
    now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


def exchange(
    name: str = "r1", body: bytes = BODY, answer: bytes = ANSWER, status: int = 200, whole: bool = True
) -> Exchange:
    return Exchange(name, 5.0, "/v1/completions", status, body, answer, 0.25, whole)


def recorder(bucket: Bucket, clock: Clock) -> Recorder:
    return Recorder(bucket, "chat", TASK, now=clock)


def batches(bucket: Bucket) -> list[Batch]:
    return [decode(content) for _, content in sorted(bucket.objects.items())]


def test_a_minute_of_samples_is_one_object() -> None:
    bucket, clock = Bucket(), Clock()
    of = recorder(bucket, clock)
    for name in ("r1", "r2"):
        of.offer(exchange(name))
    of.step()
    assert bucket.objects == {}

    clock.now += 60
    of.step()
    assert list(bucket.objects) == ["samples/chat/20260921T141420Z/chat:7/t1.json"]
    (batch,) = batches(bucket)
    assert (batch.version, batch.task, batch.left) == ("chat:7", "t1", Left())
    assert [each.request_id for each in batch.samples] == ["r1", "r2"]
    first = batch.samples[0]
    assert (first.body, first.answer, first.seconds) == (BODY.decode(), Answer(texts=("so",)), 0.25)

    clock.now += 60
    of.step()
    assert len(bucket.objects) == 1, "a minute without a request is no object"


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"body": b'{"prompt": "a"}'}, Left(chance=1)),
        # As a server streams: its answer is no JSON.
        (
            {"body": b'{"prompt": "a", "temperature": 0, "stream": true}', "answer": b"data: {}\n\ndata: [DONE]\n\n"},
            Left(chance=1),
        ),
        ({"status": 500}, Left(failed=1)),
        ({"status": 413}, Left(failed=1)),
        ({"body": b"{"}, Left(failed=1)),
        ({"body": b"[3]"}, Left(failed=1)),
        ({"answer": b"data: {}"}, Left(failed=1)),
        ({"answer": b'{"choices": []}'}, Left(failed=1)),
        ({"whole": False}, Left(dropped=1)),
    ],
)
def test_what_cannot_be_compared_is_counted_and_not_written(changes: dict[str, Any], left: Left) -> None:
    bucket, clock = Bucket(), Clock()
    of = recorder(bucket, clock)
    of.offer(exchange(**changes))
    of.step()
    of.flush()

    (batch,) = batches(bucket)
    assert (batch.samples, batch.left) == ((), left)
    assert b"prompt" not in next(iter(bucket.objects.values()))


def test_what_does_not_fit_is_dropped_and_counted_and_nobody_waits() -> None:
    bucket, clock = Bucket(), Clock()
    of = recorder(bucket, clock)
    began = time.monotonic()
    for number in range(1000):
        of.offer(exchange(f"r{number}"))

    assert time.monotonic() - began < 2
    of.step()
    of.flush()
    (batch,) = batches(bucket)
    assert (len(batch.samples), batch.left.dropped) == (64, 936)


def test_a_minute_holds_so_many_and_no_more() -> None:
    bucket, clock = Bucket(), Clock()
    of = recorder(bucket, clock)
    for number in range(300):
        of.offer(exchange(f"r{number}"))
        of.step()
    of.flush()

    (batch,) = batches(bucket)
    assert (len(batch.samples), batch.left.dropped) == (240, 60)


def test_a_minute_holds_four_megabytes() -> None:
    bucket, clock = Bucket(), Clock()
    of = recorder(bucket, clock)
    long = json.dumps({"prompt": "a" * 200_000, "temperature": 0}).encode()
    for number in range(30):
        of.offer(exchange(f"r{number}", body=long))
        of.step()
    of.flush()

    (batch,) = batches(bucket)
    assert (len(batch.samples), batch.left.dropped) == (20, 10)


def test_what_s3_does_not_take_is_lost_and_said(caplog: pytest.LogCaptureFixture) -> None:
    bucket, clock = Bucket(refuses="s3://b/k: AccessDenied"), Clock()
    of = recorder(bucket, clock)
    of.offer(exchange())
    of.step()
    with caplog.at_level(logging.WARNING):
        of.flush()
    assert "1 recorded requests are lost: s3://b/k: AccessDenied" in caplog.text

    bucket.refuses = ""
    of.flush()
    assert [each.left for each in batches(bucket)] == [Left(dropped=1)]


def test_a_bucket_that_hangs_hangs_nobody_who_answers() -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    class Hanging(Bucket):
        def put(self, key: str, content: bytes) -> None:
            hangs.set()
            goes_on.wait(20)

    of = Recorder(Hanging(), "chat", TASK, every=0.0)
    of.start()
    of.offer(exchange())
    assert hangs.wait(10)
    began = time.monotonic()
    for _ in range(500):
        of.offer(exchange())
    assert time.monotonic() - began < 2
    goes_on.set()
    of.stop()


def test_what_was_kept_is_written_when_the_process_ends() -> None:
    bucket = Bucket()
    of = Recorder(bucket, "chat", TASK)
    of.start()
    of.offer(exchange())
    of.stop()

    assert [len(each.samples) for each in batches(bucket)] == [1]


def test_a_request_that_nobody_foresaw_costs_no_other_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def keep(of: Recorder, given: Exchange) -> None:
        if given.request_id == "odd":
            raise RuntimeError("odd")
        usual(of, given)

    usual = Recorder._keep
    monkeypatch.setattr(Recorder, "_keep", keep)
    bucket = Bucket()
    of = Recorder(bucket, "chat", TASK)
    for name in ("odd", "r2"):
        of.offer(exchange(name))
    # Told to stop before it began: all that it does is what is done at the end.
    of._stop.set()
    of.start()
    of.stop()

    (batch,) = batches(bucket)
    assert ([each.request_id for each in batch.samples], batch.left) == (["r2"], Left(failed=1))
    assert "could not be kept" in caplog.text
