"""What goes to an OTLP endpoint: valid OTLP by its own definition, signed, packed, and what its answers lead to."""

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from agents import assemble
from agents.batch import Batch
from agents.collectors.collector import Contribution
from agents.config import OtlpConfig
from agents.sinks import otlp_json
from agents.sinks.otlp import OtlpSink, cloudwatch_endpoint
from agents.sinks.sink import SinkError, SinkRejectedError
from fleet import metrics
from tests.support import agents, batches, samples
from tests.support.http_endpoint import Answer, Endpoint, endpoint

FULL = batches.one(samples.full_node())
SMALL = Batch(agents.MINUTE, 1, "s", (), {"environment": "test", "fleet": "pretrain", "node": "i-1"})


class Ticks:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def decoded(*bodies: bytes) -> dict[str, list[Any]]:
    """The data points of each metric, decoded by OpenTelemetry's own definition of the protocol."""
    points: dict[str, list[Any]] = {}
    for body in bodies:
        request = json_format.Parse(body, ExportMetricsServiceRequest())
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    assert metric.WhichOneof("data") == "gauge"
                    points.setdefault(metric.name, []).extend(metric.gauge.data_points)
    return points


def labels(point: Any) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in point.attributes}


def count(body: bytes) -> int:
    return sum(len(points) for points in decoded(body).values())


@pytest.mark.parametrize("shape", batches.SHAPES)
def test_every_shape_is_valid_otlp(shape: str) -> None:
    points = decoded(*otlp_json.requests(batches.one(batches.SHAPES[shape])))

    assert points["neuron_fleet_agent_last_minute_timestamp_seconds"][0].as_double == agents.MINUTE + 60


def test_a_core_is_a_gauge_with_the_node_and_the_core_on_the_point() -> None:
    points = decoded(*otlp_json.requests(FULL))["neuron_fleet_core_utilization_ratio"]

    assert len(points) == 32
    assert labels(points[3]) == {
        "environment": "test", "fleet": "pretrain", "node": "i-1", "neuron_core": "3", "neuron_device": "1"
    }  # fmt: skip
    assert points[3].as_double == 0.5
    assert points[3].time_unix_nano == (agents.MINUTE + 60) * 10**9


def test_a_count_is_a_gauge_of_the_minute_so_that_order_and_repetition_do_not_matter() -> None:
    points = decoded(*otlp_json.requests(FULL))

    assert points["neuron_fleet_node_executions_completed_per_minute"][0].as_double == 320
    assert points["neuron_fleet_job_executions_completed_per_minute"][0].as_double == 320
    assert list(otlp_json.requests(FULL)) == list(otlp_json.requests(FULL))
    assert not [name for name in points if name.endswith(("_total", "_info"))]


def test_units_are_opentelemetry_s() -> None:
    request = json_format.Parse(next(otlp_json.requests(FULL)), ExportMetricsServiceRequest())
    units = {each.name: each.unit for each in request.resource_metrics[0].scope_metrics[0].metrics}

    assert units["neuron_fleet_core_utilization_ratio"] == "1"
    assert units["neuron_fleet_device_memory_used_bytes"] == "By"
    assert units["neuron_fleet_agent_report_age_seconds"] == "s"
    assert units["neuron_fleet_core_flops_per_second"] == "{FLOP}/s"
    assert units["neuron_fleet_node_state"] == ""


def test_a_node_of_128_cores_and_8_jobs_is_one_request() -> None:
    body = b"".join(otlp_json.requests(large_node()))

    # 128 cores x 4, 16 devices x 6, 8 states, and the node, its jobs and the agent; the limit is 1,000.
    assert 128 * 4 + 16 * 6 + 8 < count(body) < 1000
    assert len(body) < 1_000_000


def large_node() -> Batch:
    runtimes = [
        samples.RuntimeSpec(7000 + core, "1", {core: 50.0}, {core: 10e12}, {core: samples.GIB}, 10, p99=0.04)
        for core in range(128)
    ]
    made = samples.report(runtimes, devices=16, cores_per_device=8, instance_type="trn2.48xlarge")
    tokens = {f"job-{index}": {metrics.TOKENS_PER_SECOND: 5.0, metrics.TRAINING_LOSS: 1.5} for index in range(8)}
    return batches.one(made, around=Contribution(jobs=(batches.JOB,), job_metrics=tokens))


def test_more_points_than_a_request_may_have_are_several_and_none_is_lost() -> None:
    whole = decoded(*otlp_json.requests(FULL))
    bodies = list(otlp_json.requests(FULL, points=100))

    assert [count(body) for body in bodies[:-1]] == [100] * (len(bodies) - 1)
    parts = decoded(*bodies)
    assert {name: len(points) for name, points in parts.items()} == {name: len(p) for name, p in whole.items()}


def test_a_request_that_is_too_large_is_halved_until_it_fits() -> None:
    whole = decoded(*otlp_json.requests(FULL))
    bodies = list(otlp_json.requests(FULL, size=20_000))

    assert len(bodies) > 1
    assert max(map(len, bodies)) <= 20_000
    assert sum(map(count, bodies)) == sum(map(len, whole.values()))


def test_a_single_point_goes_out_whatever_its_size() -> None:
    assert [count(body) for body in otlp_json.requests(SMALL, size=1)] == [1]


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

    assert str(error.value) == f"{server.url} took only a part: 3 data points refused: too many labels"


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

    monkeypatch.setattr("agents.sinks.otlp._READ_SECONDS", 0.05)
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
