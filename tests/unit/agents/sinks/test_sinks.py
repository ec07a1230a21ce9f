"""The AWS sinks against botocore's own stub, and against an endpoint that is not there or too slow."""

import json
import socket
from typing import Any

import pytest
from botocore.config import Config
from botocore.stub import ANY, Stubber

from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch, Datum
from agents.sinks import aws
from agents.sinks.cloudwatch import CloudWatchSink, EmfLogsSink
from agents.sinks.sink import StdoutSink
from tests.support.agents import MINUTE

DATUM: Datum = {
    "MetricName": "AgentHeartbeat",
    "Dimensions": [{"Name": "Environment", "Value": "test"}],
    "Timestamp": "2026-11-21T03:00:00Z",
    "Unit": "Count",
    "StorageResolution": 60,
    "Value": 1.0,
}
BATCH = Batch(MINUTE, 7, "pretrain/i-1", (DATUM,), {"seq": 7})
GROUP = "/neuron-fleet/test/nodes"
PUT = {
    "logGroupName": GROUP,
    "logStreamName": "pretrain/i-1",
    "logEvents": [{"timestamp": MINUTE * 1000, "message": ANY}],
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def stubbed(sink: Any) -> Stubber:
    stub = Stubber(sink._client)
    stub.activate()
    return stub


def test_datums_go_to_the_namespace_as_they_are() -> None:
    sink = CloudWatchSink("us-east-2")
    stub = stubbed(sink)
    stub.add_response("put_metric_data", {}, {"Namespace": "NeuronFleet", "MetricData": [DATUM]})

    assert sink.send(Batch(MINUTE, 7, "s", (DATUM,), {})) == 0

    stub.assert_no_pending_responses()


def test_more_than_a_thousand_datums_are_several_requests() -> None:
    sink = CloudWatchSink("us-east-2")
    stub = stubbed(sink)
    for size in (1000, 500):
        stub.add_response("put_metric_data", {}, {"Namespace": "NeuronFleet", "MetricData": [DATUM] * size})

    sink.send(Batch(MINUTE, 7, "s", (DATUM,) * 1500, {}))

    stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("code", "error"),
    [("Throttling", SinkError), ("AccessDenied", SinkError), ("InvalidParameterValue", SinkRejectedError)],
)
def test_throttling_is_waited_for_and_a_wrong_request_is_not(code: str, error: type[Exception]) -> None:
    sink = CloudWatchSink("us-east-2")
    stubbed(sink).add_client_error("put_metric_data", code)

    with pytest.raises(error, match=code):
        sink.send(BATCH)


def test_the_log_stream_is_made_when_it_is_first_missing() -> None:
    sink = EmfLogsSink("us-east-2", GROUP)
    stub = stubbed(sink)
    stub.add_client_error("put_log_events", "ResourceNotFoundException")
    stub.add_response("create_log_stream", {}, {"logGroupName": GROUP, "logStreamName": "pretrain/i-1"})
    stub.add_response("put_log_events", {}, PUT)

    sink.send(BATCH)

    stub.assert_no_pending_responses()


def test_a_stream_that_somebody_else_just_made_is_used() -> None:
    sink = EmfLogsSink("us-east-2", GROUP)
    stub = stubbed(sink)
    stub.add_client_error("put_log_events", "ResourceNotFoundException")
    stub.add_client_error("create_log_stream", "ResourceAlreadyExistsException")
    stub.add_response("put_log_events", {}, PUT)

    sink.send(BATCH)

    stub.assert_no_pending_responses()


def test_a_missing_log_group_is_waited_for() -> None:
    sink = EmfLogsSink("us-east-2", GROUP)
    stub = stubbed(sink)
    stub.add_client_error("put_log_events", "ResourceNotFoundException")
    stub.add_client_error("create_log_stream", "ResourceNotFoundException")

    with pytest.raises(SinkError):
        sink.send(BATCH)


def test_an_event_that_the_service_finds_too_old_is_refused() -> None:
    sink = EmfLogsSink("us-east-2", GROUP)
    stubbed(sink).add_response("put_log_events", {"rejectedLogEventsInfo": {"tooOldLogEventEndIndex": 1}}, PUT)

    with pytest.raises(SinkRejectedError, match="tooOld"):
        sink.send(BATCH)


def test_an_endpoint_that_is_not_there_is_a_sink_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")

    with pytest.raises(SinkError):
        CloudWatchSink("us-east-2").send(BATCH)


def test_an_endpoint_that_never_answers_is_a_sink_error(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = aws.CLIENT_CONFIG.merge(Config(read_timeout=0.05, retries={"total_max_attempts": 1}))
    monkeypatch.setattr(aws, "CLIENT_CONFIG", impatient)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")

        with pytest.raises(SinkError, match="timeout"):
            EmfLogsSink("us-east-2", GROUP).send(BATCH)


def test_two_sinks_at_their_most_patient_stay_below_a_minute() -> None:
    config: Any = aws.CLIENT_CONFIG

    attempt = config.connect_timeout + config.read_timeout
    # The log sink may need three calls: put, create, put.
    assert attempt * config.retries["total_max_attempts"] * (1 + 3) <= 60


def test_standard_output_gets_one_object_a_batch(capsys: pytest.CaptureFixture[str]) -> None:
    StdoutSink().send(BATCH)

    assert json.loads(capsys.readouterr().out) == {"metric_data": [DATUM], "log_event": {"seq": 7}}
