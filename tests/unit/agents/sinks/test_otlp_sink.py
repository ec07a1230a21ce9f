"""How batches get to an OTLP endpoint: packed, signed, and what the endpoint's answers lead to."""

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator

import pytest

from agents import assemble
from agents.config import OtlpConfig
from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks.otlp_sink import OtlpSink, cloudwatch_endpoint
from tests.support import agents, batches, samples
from tests.support.http_endpoint import Answer, Endpoint, endpoint
from tests.support.otlp import decoded
from tests.support.scrape import Ticks

FULL = batches.one(samples.full_node())
SMALL = Batch(agents.MINUTE, 1, "s", (), {"environment": "test", "fleet": "pretrain", "node": "i-1"})


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


def sink(server: Endpoint, ticks: Callable[[], float] | None = None) -> OtlpSink:
    return OtlpSink("us-east-2", server.url, ticks or Ticks())


def test_a_batch_is_posted_packed_and_signed_for_cloudwatch(server: Endpoint) -> None:
    assert sink(server).send(FULL) == 0

    (request,) = server.received
    assert request.path == "/v1/metrics"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-encoding"] == "gzip"
    scope = r"AWS4-HMAC-SHA256 Credential=testing/\d{8}/us-east-2/monitoring/aws4_request, "
    signed = r"SignedHeaders=content-encoding;content-type;host;x-amz-date, Signature=[0-9a-f]{64}"
    assert re.fullmatch(scope + signed, request.headers["authorization"])
    assert re.fullmatch(r"\d{8}T\d{6}Z", request.headers["x-amz-date"])
    assert decoded(gzip.decompress(request.body))["neuron_fleet_node_cores"][0].as_double == 32


def test_a_session_token_is_sent_along(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "temporary")
    sink(server).send(SMALL)

    assert server.received[0].headers["x-amz-security-token"] == "temporary"


@pytest.mark.parametrize("status", [400, 404, 413, 415])
def test_a_refused_request_is_never_sent_again(status: int) -> None:
    body = b"Maximum number of datapoints\nper request exceeded: 1000."
    with endpoint(Answer(status, body)) as server, pytest.raises(SinkRejectedError) as error:
        sink(server).send(SMALL)

    said = "Maximum number of datapoints per request exceeded: 1000."
    assert str(error.value) == f"{server.url} answered {status}: {said}"
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [401, 403, 408, 302])
def test_a_sender_that_is_not_welcome_yet_tries_again_later(status: int) -> None:
    with endpoint(Answer(status)) as server, pytest.raises(SinkError, match=f"answered {status}: nothing else"):
        sink(server).send(SMALL)


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_server_s_mistake_is_tried_a_second_time_at_once(status: int) -> None:
    with endpoint(Answer(status)) as server:
        assert sink(server).send(SMALL) == 1
    with endpoint(Answer(status), Answer(status), Answer()) as server, pytest.raises(SinkError):
        sink(server).send(SMALL)
    assert len(server.received) == 2


def test_a_connection_that_breaks_off_is_tried_a_second_time_at_once() -> None:
    with endpoint(Answer(hang_up=True)) as server:
        assert sink(server).send(SMALL) == 1
    with endpoint(Answer(hang_up=True), Answer(hang_up=True)) as server, pytest.raises(SinkError):
        sink(server).send(SMALL)


@pytest.mark.parametrize(
    ("status", "wish", "pause"),
    [
        (429, "7", 7),
        (503, "7", 7),
        (429, None, 30),
        (503, "Sat, 21 Nov 2026 07:00:00 GMT", 30),
        (429, "86400", 300),
        (429, "-5", 0),
        (429, "nan", 30),
    ],
)
def test_an_endpoint_that_is_busy_is_left_alone_as_long_as_it_asks(status: int, wish: str | None, pause: float) -> None:
    ticks = Ticks()
    with endpoint(Answer(status, headers={} if wish is None else {"Retry-After": wish})) as server:
        busy = sink(server, ticks)
        with pytest.raises(SinkError, match=f"answered {status}"):
            busy.send(SMALL)
        if pause:
            ticks.now += pause - 1
            with pytest.raises(SinkError, match="asked for patience"):
                busy.send(SMALL)
            ticks.now += 1
        assert busy.send(SMALL) == 0
        assert len(server.received) == 2


def test_what_was_refused_of_a_request_is_said_and_the_batch_is_not_sent_again() -> None:
    said = {"partialSuccess": {"rejectedDataPoints": "3", "errorMessage": "too many labels"}}
    with endpoint(Answer(body=json.dumps(said).encode())) as server, pytest.raises(SinkRejectedError) as error:
        sink(server).send(SMALL)

    assert str(error.value) == f"{server.url} refused 3 data points: too many labels"


def test_the_other_requests_of_a_batch_are_sent_when_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.sinks.otlp_sink.requests", lambda batch, level: [b"{}", b"{}", b"{}"])
    with endpoint(Answer(), Answer(400, b"too old")) as server, pytest.raises(SinkRejectedError) as error:
        sink(server).send(SMALL)

    assert str(error.value) == f"{server.url} answered 400: too old"
    assert len(server.received) == 3


def test_a_warning_without_a_refusal_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with endpoint(Answer(body=b'{"partialSuccess":{"errorMessage":"deprecated"}}')) as server:
        assert sink(server).send(SMALL) == 0

    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "the OTLP endpoint took everything and says: deprecated"
    ]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"<html>", b'{"partialSuccess":{"rejectedDataPoints":"x"}}', b"\xff"]
)
def test_any_answer_to_a_taken_request_will_do(body: bytes) -> None:
    with endpoint(Answer(body=body)) as server:
        assert sink(server).send(SMALL) == 0


def test_a_node_without_credentials_waits_for_them(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")

    with pytest.raises(SinkError, match="no AWS credentials"):
        sink(server).send(SMALL)
    assert server.received == []


def test_an_endpoint_that_is_not_there_or_never_answers_costs_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(SinkError, match="connect"):
        OtlpSink("us-east-2", f"http://127.0.0.1:{port}/v1/metrics").send(SMALL)

    monkeypatch.setattr("agents.sinks.otlp_sink._READ_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(SinkError, match=r"[Rr]ead timeout"):
        OtlpSink("us-east-2", f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics").send(SMALL)


def test_the_endpoint_is_the_region_s_own_unless_another_is_given() -> None:
    assert cloudwatch_endpoint("us-east-2") == "https://monitoring.us-east-2.amazonaws.com/v1/metrics"
    assert cloudwatch_endpoint("cn-north-1") == "https://monitoring.cn-north-1.amazonaws.com.cn/v1/metrics"


def test_the_sink_exists_only_where_the_configuration_asks_for_it() -> None:
    assert [each.name for each in assemble.aws_sinks(agents.config())] == ["metrics", "logs"]
    assert [each.name for each in assemble.aws_sinks(agents.config(otlp=OtlpConfig()))] == ["metrics", "logs", "otlp"]


def test_a_day_of_outage_is_caught_up_with_and_no_more() -> None:
    made = OtlpSink("us-east-2")

    assert made.longest_age == 24 * 3600
    assert not made.is_record
    assert made.part(FULL) is FULL
