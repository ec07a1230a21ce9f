"""The AWS sinks over HTTP: what is sent and how large it is, and every way in which an answer can fail to come."""

import json
import sys
from collections.abc import Iterator

import pytest
from botocore.config import Config

from agents.errors import SinkError, SinkRejectedError
from agents.minute.aggregate import batch_of
from agents.minute.batch import Batch, Datum
from agents.sinks import aws
from agents.sinks.cloudwatch import CloudWatchSink, EmfLogsSink, requests
from tests.support.agents import MINUTE
from tests.support.endpoint import Call, Endpoint, serving
from tests.support.large_node import JOBS, trn2_minute


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    # One attempt, and the patience of a busy machine: what is tested here is the sink's own answer.
    once = aws.CLIENT_CONFIG.merge(Config(read_timeout=30, connect_timeout=30, retries={"total_max_attempts": 1}))
    monkeypatch.setattr(aws, "CLIENT_CONFIG", once)
    with serving() as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
        yield made


def datum(index: int, padding: int = 0) -> Datum:
    return {
        "MetricName": f"M{index}{'x' * padding}",
        "Timestamp": "2026-11-21T03:00:00Z",
        "Unit": "Count",
        "Value": 1.0,
    }


def names(call: Call) -> list[str]:
    return [each["MetricName"] for each in call.content["MetricData"]]


def test_a_minute_of_128_cores_and_four_jobs_is_one_compressed_call_to_each_service(endpoint: Endpoint) -> None:
    batch = batch_of(trn2_minute(MINUTE))
    metrics, logs = CloudWatchSink("us-east-2"), EmfLogsSink("us-east-2", "/g")

    metrics.send(metrics.part(batch))
    logs.send(logs.part(batch))

    (put,) = endpoint.of("PutMetricData")
    (event,) = endpoint.of("PutLogEvents")
    plain = len(json.dumps(put.content))
    jobs = {each["Value"] for one in put.content["MetricData"] for each in one["Dimensions"] if each["Name"] == "JobId"}
    sys.stdout.write(f"{len(put.content['MetricData'])} datums, {plain} bytes, {put.bytes_sent} on the wire\n")
    assert jobs == {job.job_id for job in JOBS}
    assert put.encoding == "gzip"
    assert put.bytes_sent < plain / 5
    assert json.loads(event.content["logEvents"][0]["message"])["seq"] == 4_321


def test_compression_cannot_be_switched_off_from_outside(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DISABLE_REQUEST_COMPRESSION", "true")

    CloudWatchSink("us-east-2").send(Batch(MINUTE, 1, "s", tuple(map(datum, range(50))), {}))

    assert endpoint.calls[0].encoding == "gzip"


def test_of_a_split_batch_only_what_was_not_confirmed_is_sent_again(endpoint: Endpoint) -> None:
    sink = CloudWatchSink("us-east-2")
    batch = Batch(MINUTE, 1, "s", tuple(map(datum, range(2500))), {})
    endpoint.answer = lambda call: (400, "ThrottlingException") if names(call)[0] == "M1000" else (200, "")
    with pytest.raises(SinkError, match="Throttling"):
        sink.send(batch)
    endpoint.answer = lambda _: (200, "")

    sink.send(batch)
    sink.send(Batch(MINUTE + 60, 2, "s", tuple(map(datum, range(3))), {}))

    # Confirmed, throttled; again from there; and nothing is remembered for the next batch.
    assert [(names(call)[0], len(names(call))) for call in endpoint.calls] == [
        ("M0", 1000),
        ("M1000", 1000),
        ("M1000", 1000),
        ("M2000", 500),
        ("M0", 3),
    ]


def test_no_request_is_larger_than_a_megabyte() -> None:
    # 10 KB each: 900 KB hold 89 of them, so 200 make three requests.
    made = [list(part) for part in requests(tuple(datum(index, 10_000) for index in range(200)))]

    assert [len(part) for part in made] == [89, 89, 22]
    assert max(len(json.dumps(part)) for part in made) < 1_000_000


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, "ThrottlingException", SinkError),
        (503, "ServiceUnavailable", SinkError),
        (500, "InternalFailure", SinkError),
        (403, "ExpiredTokenException", SinkError),
        (403, "UnrecognizedClientException", SinkError),
        (400, "InvalidParameterValueException", SinkRejectedError),
        (413, "RequestEntityTooLarge", SinkRejectedError),
    ],
)
def test_each_answer_is_either_waited_for_or_final(
    endpoint: Endpoint, status: int, code: str, error: type[Exception]
) -> None:
    endpoint.answer = lambda _: (status, code)

    for sink in (CloudWatchSink("us-east-2"), EmfLogsSink("us-east-2", "/g")):
        with pytest.raises(error):
            sink.send(Batch(MINUTE, 1, "s", (datum(1),), {"seq": 1}))


def test_a_request_that_was_stored_and_not_answered_is_not_confirmed(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: None

    with pytest.raises(SinkError):
        EmfLogsSink("us-east-2", "/g").send(Batch(MINUTE, 1, "s", (), {"seq": 1}))
    endpoint.answer = lambda _: (200, "")
    EmfLogsSink("us-east-2", "/g").send(Batch(MINUTE, 1, "s", (), {"seq": 1}))

    first, twin = (call.content["logEvents"] for call in endpoint.of("PutLogEvents"))
    assert first == twin


def test_a_name_that_does_not_resolve_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    once = aws.CLIENT_CONFIG.merge(Config(retries={"total_max_attempts": 1}))
    monkeypatch.setattr(aws, "CLIENT_CONFIG", once)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://cloudwatch.invalid")

    with pytest.raises(SinkError, match=r"cloudwatch\.invalid"):
        CloudWatchSink("us-east-2").send(Batch(MINUTE, 1, "s", (datum(1),), {}))


def test_a_node_without_credentials_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")

    with pytest.raises(SinkError, match="credentials"):
        CloudWatchSink("us-east-2").send(Batch(MINUTE, 1, "s", (datum(1),), {}))
