"""What a scrape of the agent answers: names, units, labels, counters over minutes, and nothing that is stale."""

import gzip
import http.client
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agents import assemble
from agents.batch import Batch
from agents.collectors.collector import Contribution
from agents.collectors.job import Job
from agents.config import PrometheusConfig
from agents.sinks.prometheus import PrometheusExporter
from agents.sinks.prometheus_server import MetricsServer, serve
from fleet import metrics
from tests.support import agents, batches, samples
from tests.support.promtool import check_metrics
from tests.support.samples import Json, RuntimeSpec

Labels = frozenset[tuple[str, str]]
PATIENCE = 60
EVERYWHERE = {("environment", "test"), ("fleet", "pretrain")}
OWN = {
    "neuron_fleet_node_info",
    "neuron_fleet_agent_last_minute_timestamp_seconds",
    "neuron_fleet_agent_report_age_seconds",
    "neuron_fleet_agent_spool_bytes",
    "neuron_fleet_agent_dropped_samples_total",
    "neuron_fleet_agent_publish_retries_total",
    "neuron_fleet_agent_cpu_ratio",
    "neuron_fleet_agent_rss_bytes",
}


class Ticks:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def shown(*minutes: Batch, ticks: Ticks | None = None) -> PrometheusExporter:
    exporter = PrometheusExporter(ticks or Ticks())
    for batch in minutes:
        exporter.show(batch)
    return exporter


def scraped(exporter: PrometheusExporter) -> dict[tuple[str, Labels], float]:
    """Every sample, by its name and the labels that not all samples have."""
    text = generate_latest(exporter.registry).decode()
    return {
        (sample.name, frozenset(set(sample.labels.items()) - EVERYWHERE)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def one(exporter: PrometheusExporter, name: str, **labels: str) -> float | None:
    return scraped(exporter).get((f"neuron_fleet_{name}", frozenset(labels.items())))


def names_of(exporter: PrometheusExporter) -> set[str]:
    return {name for name, _ in scraped(exporter)}


@pytest.mark.parametrize("shape", batches.SHAPES)
def test_promtool_finds_nothing_wrong_with_any_shape(shape: str) -> None:
    exporter = shown(batches.one(batches.SHAPES[shape]))

    assert check_metrics(generate_latest(exporter.registry)) == ""


def test_promtool_finds_nothing_wrong_with_every_metric_of_the_catalogue() -> None:
    every = {spec: 1.0 for spec in metrics.CATALOGUE.values() if spec.per_fleet and spec.kind in SHOWN_AS_GIVEN}
    # Most of them the agent publishes itself: a name that comes twice must not void the scrape.
    of_jobs = {spec: 1.0 for spec in metrics.CATALOGUE.values() if spec.per_job and spec.kind in SHOWN_AS_GIVEN}
    batch = batches.one(around=Contribution(metrics=every, job_metrics={"job-1": of_jobs}))

    assert check_metrics(generate_latest(shown(batch).registry)) == ""
    assert len([name for name in names_of(shown(batch)) if "_job_" in name]) == len(of_jobs)


SHOWN_AS_GIVEN = {metrics.Kind.GAUGE, metrics.Kind.PER_MINUTE}


def test_a_full_node_is_shown_by_core_and_by_device() -> None:
    exporter = shown(batches.one(samples.full_node()))

    # Core 3 is the second of device 1: 50 % busy, 36.8 of 92 TFLOP/s, 4 GiB of tensors and 1 MiB of code.
    core = {"neuron_core": "3", "neuron_device": "1"}
    assert one(exporter, "core_utilization_ratio", **core) == 0.5
    assert one(exporter, "core_flops_per_second", **core) == 36.8e12
    assert one(exporter, "core_tensor_engine_utilization_ratio", **core) == pytest.approx(0.4)
    assert one(exporter, "core_memory_used_bytes", **core) == 4_296_015_872
    assert one(exporter, "device_memory_used_bytes", neuron_device="1") == 2 * 4_296_015_872
    assert one(exporter, "device_memory_size_bytes", neuron_device="1") == 34_359_738_368
    assert one(exporter, "device_ecc_reported_errors", neuron_device="1", counter="mem_ecc_uncorrected") == 0
    # 32 cores x 4 series, 16 devices x (used + size + 4 counters).
    assert sum(name.startswith("neuron_fleet_core") for name, _ in scraped(exporter)) == 128
    assert sum(name.startswith("neuron_fleet_device") for name, _ in scraped(exporter)) == 96


def test_a_full_node_is_shown_as_a_whole_and_by_job() -> None:
    exporter = shown(batches.one(samples.full_node()))

    # 32 processes of 10 executions each; 32 x 36.8e12 FLOP/s; 2.5 % of a core for the agent.
    assert one(exporter, "node_executions_completed_total") == 320
    assert one(exporter, "node_flops_per_second") == 32 * 36.8e12
    assert one(exporter, "node_execution_latency_p99_seconds") == 0.04
    assert one(exporter, "node_cores") == one(exporter, "node_cores_allocated") == 32
    assert one(exporter, "node_cost_usd_per_hour") == 20
    assert one(exporter, "job_executions_completed_total", job="job-1") == 320
    assert one(exporter, "job_neuron_core_utilization_ratio", job="job-1") == 0.5
    assert one(exporter, "agent_cpu_ratio") == 0.025
    assert one(exporter, "agent_rss_bytes") == 60_000_000
    assert one(exporter, "agent_dropped_samples_total") == 1
    assert one(exporter, "agent_last_minute_timestamp_seconds") == agents.MINUTE + 60


def test_every_state_has_a_series_and_one_of_them_is_the_node_s() -> None:
    states = {
        dict(labels)["neuron_fleet_node_state"]: value
        for (name, labels), value in scraped(shown(batches.one(samples.full_node()))).items()
        if name == "neuron_fleet_node_state"
    }

    assert [state for state, value in states.items() if value == 1] == ["RUNNING"]
    assert set(states) == {
        "BLIND", "CHECKPOINT", "COMPILING", "DRAINING", "FAULT", "NO_JOB", "RUNNING", "STARTUP"
    }  # fmt: skip


def test_the_node_is_described_once_and_not_in_every_series() -> None:
    exporter = shown(batches.one(samples.full_node()))

    told = {
        "node": "i-1",
        "instance_type": "trn1.32xlarge",
        "availability_zone": "us-west-2d",
        "owner": "research",
        "agent_version": "0.1.0",
    }
    assert one(exporter, "node_info", **told) == 1


def test_what_was_not_measured_is_absent_and_not_zero() -> None:
    # Two runtimes: one without counters and memory, one without a report.
    exporter = shown(batches.one(samples.null_sections()))

    assert not [name for name in names_of(exporter) if name.startswith("neuron_fleet_core")]
    assert one(exporter, "device_memory_used_bytes", neuron_device="0") is None
    assert one(exporter, "node_flops_per_second") is None


def test_a_blind_node_shows_its_state_and_nothing_of_its_work() -> None:
    exporter = shown(batches.one(samples.no_driver()))

    assert one(exporter, "node_state", neuron_fleet_node_state="BLIND") == 1
    work = ("neuron_fleet_core", "neuron_fleet_device", "neuron_fleet_node_exec", "neuron_fleet_job_exec")
    assert not [name for name in names_of(exporter) if name.startswith(work)]


def test_a_core_above_its_peak_is_shown_as_it_was_measured() -> None:
    exporter = shown(batches.one(batches.SHAPES["above the peak, with memory errors"]))

    core = {"neuron_core": "0", "neuron_device": "0"}
    assert one(exporter, "core_utilization_ratio", **core) == 1.3
    assert one(exporter, "core_tensor_engine_utilization_ratio", **core) == pytest.approx(200 / 92)


def minute_of(completed: int, hardware_errors: int = 0) -> Json:
    return samples.report([RuntimeSpec(1, "a", {0: 10.0}, {}, {0: 1}, completed, hardware_errors=hardware_errors)])


def test_counters_add_up_over_the_minutes() -> None:
    exporter = shown(*(batches.one(minute_of(completed)) for completed in (5, 7, 0)))

    assert one(exporter, "node_executions_completed_total") == 12
    assert one(exporter, "agent_publish_retries_total") == 6


def test_a_counter_stays_when_a_minute_did_not_measure_it() -> None:
    exporter = shown(batches.one(minute_of(5)), batches.one(samples.no_driver()))

    assert one(exporter, "node_executions_completed_total") == 5


def test_errors_of_a_kind_stay_in_their_counter_in_quiet_minutes() -> None:
    exporter = shown(batches.one(minute_of(5, hardware_errors=2)), batches.one(minute_of(5)))

    assert one(exporter, "node_execution_errors_by_kind_total", kind="hardware") == 2
    labels = {"neuron_device": "", "kind": "execution-hardware", "action": "reboot"}
    assert one(exporter, "device_hardware_errors_total", **labels) == 2


def test_series_of_a_job_end_with_the_job_and_its_counter_goes_on_when_it_returns() -> None:
    first, second = (batches.one(minute_of(5), around=Contribution(jobs=(job(name),))) for name in ("a", "b"))
    exporter = shown(first, second)

    assert one(exporter, "job_executions_completed_total", job="a") is None
    assert one(exporter, "job_executions_completed_total", job="b") == 5

    exporter.show(first)
    assert one(exporter, "job_executions_completed_total", job="a") == 10


def test_an_error_that_two_sources_saw_is_one_series() -> None:
    seen = {"kind": "hbm-uncorrectable", "action": "replace", "device": 3, "count": 2}
    twice = [seen, {**seen, "count": 1}]
    exporter = shown(Batch(agents.MINUTE, 1, "s", (), {**dict(EVERYWHERE), "hardware_errors": twice}))

    labels = {"neuron_device": "3", "kind": "hbm-uncorrectable", "action": "replace"}
    assert one(exporter, "device_hardware_errors_total", **labels) == 3


def job(name: str) -> Job:
    return Job(name, name, "", registered=True)


def test_ten_thousand_jobs_do_not_stay_in_memory() -> None:
    exporter = PrometheusExporter(Ticks())
    tokens = {metrics.NON_FINITE_LOSS: 1.0}

    for block in range(10):
        of_jobs = {f"job-{block}-{index}": tokens for index in range(1000)}
        exporter.show(batches.one(around=Contribution(job_metrics=of_jobs)))

    assert len(exporter._totals._values) <= 2048


def test_a_minute_that_nothing_followed_disappears_and_the_age_of_the_report_rises() -> None:
    ticks = Ticks()
    exporter = shown(batches.one(samples.full_node()), ticks=ticks)
    # The minute ended 5 s after its report began to be measured.
    age = one(exporter, "agent_report_age_seconds")
    assert age is not None

    ticks.now += 180
    assert one(exporter, "core_utilization_ratio", neuron_core="0", neuron_device="0") == 0.5

    ticks.now += 1
    assert names_of(exporter) == OWN
    assert one(exporter, "agent_report_age_seconds") == pytest.approx(age + 181)


def test_a_label_cannot_break_out_of_its_line() -> None:
    evil = Job('a"} 1\nneuron_fleet_node_cores 0\\', "n", "o", registered=True)
    exporter = shown(batches.one(samples.full_node(), around=Contribution(jobs=(evil,))))

    assert check_metrics(generate_latest(exporter.registry)) == ""
    assert one(exporter, "node_cores") == 32
    assert one(exporter, "job_executions_completed_total", job=evil.job_id) == 320


@pytest.mark.parametrize(
    "event", [{}, {"cores": None, "devices": None}, {"cores": {"utilization": [None, "x", 1e999]}}]
)
def test_an_event_without_its_parts_shows_what_there_is(event: dict[str, object]) -> None:
    exporter = shown(Batch(agents.MINUTE, 1, "s", (), event))

    assert names_of(exporter) == {"neuron_fleet_node_info", "neuron_fleet_agent_last_minute_timestamp_seconds"}


def test_nothing_is_shown_before_the_first_minute() -> None:
    assert generate_latest(shown().registry) == b""


@contextmanager
def serving(seconds: float = PATIENCE) -> Iterator[MetricsServer]:
    made = MetricsServer("127.0.0.1", 0, shown(batches.one(samples.full_node())).registry, seconds)
    made.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[MetricsServer]:
    with serving() as made:
        yield made


def ask(
    server: MetricsServer, path: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_the_metrics_are_served_as_text(server: MetricsServer) -> None:
    response, body = ask(server, "/metrics")

    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert check_metrics(body) == ""
    assert b"neuron_fleet_core_utilization_ratio{" in body


def test_a_scraper_may_ask_for_openmetrics_and_gzip(server: MetricsServer) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    response, body = ask(server, "/metrics?x=1", Accept=accept, Accept_Encoding="gzip, deflate")

    assert response.headers["Content-Type"].startswith("application/openmetrics-text")
    assert gzip.decompress(body).endswith(b"# EOF\n")
    assert b"# TYPE neuron_fleet_node_state stateset" in gzip.decompress(body)


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metricsx", "/../etc/passwd"])
def test_there_is_nothing_else(server: MetricsServer, path: str) -> None:
    assert ask(server, path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_done_but_get(server: MetricsServer, method: str) -> None:
    assert ask(server, "/metrics", method)[0].status == 501


def test_a_request_that_never_ends_is_hung_up_on_and_others_are_answered_meanwhile() -> None:
    slow = socket.socket()
    slow.settimeout(PATIENCE)
    # As long as a busy machine may need to answer the other request.
    with serving(seconds=2) as made, slow:
        slow.connect(("127.0.0.1", made.server_port))
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        assert ask(made, "/metrics")[0].status == 200
        assert slow.recv(1) == b""


def test_more_scrapers_at_once_than_there_are_places_are_turned_away() -> None:
    with serving() as made, ExitStack() as stack:
        # Connections are taken in in their order, so the four before it have their places.
        *_, fifth = [
            stack.enter_context(socket.create_connection(("127.0.0.1", made.server_port), timeout=PATIENCE))
            for _ in range(5)
        ]
        assert fifth.recv(1) == b""


def test_a_taken_port_is_one_line_and_no_exporter(server: MetricsServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert serve(PrometheusConfig(server.server_port)) is None

    assert [record.getMessage() for record in caplog.records] == [
        f"no metrics for Prometheus: 127.0.0.1 port {server.server_port} cannot be opened: Address already in use"
    ]
    assert assemble.exporters(agents.config(prometheus=PrometheusConfig(server.server_port))) == ()


@pytest.mark.parametrize("address", ["203.0.113.7", "no such host", "::ffff:0:0:0:1"])
def test_an_address_of_another_machine_is_one_line(address: str, caplog: pytest.LogCaptureFixture) -> None:
    assert serve(PrometheusConfig(1, address)) is None

    assert len(caplog.records) == 1
    assert "\n" not in caplog.records[0].getMessage()


def test_no_server_is_started_unless_the_configuration_asks_for_one() -> None:
    assert assemble.exporters(agents.config()) == ()
