"""What a scrape of the agent answers: names, units, labels, and nothing that is stale or was not measured."""

from dataclasses import replace

import pytest
from prometheus_client.exposition import generate_latest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.batch import Batch
from fleet import metrics
from fleet.version import VERSION
from tests.support import agents, batches, samples
from tests.support.promtool import check_metrics
from tests.support.scrape import Ticks, names_of, one, scraped, shown

SHOWN_AS_GIVEN = {metrics.Kind.GAUGE, metrics.Kind.PER_MINUTE}
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


@pytest.mark.parametrize("shape", batches.SHAPES)
def test_promtool_finds_nothing_wrong_with_any_shape(shape: str) -> None:
    exporter = shown(batches.one(batches.SHAPES[shape]))

    assert check_metrics(generate_latest(exporter.registry)) == ""


def test_promtool_finds_nothing_wrong_with_every_metric_of_the_catalogue() -> None:
    every = {spec: 1.0 for spec in metrics.AGENT_CATALOGUE.values() if spec.per_fleet and spec.kind in SHOWN_AS_GIVEN}
    # Most of them the agent publishes itself: a name that comes twice must not void the scrape.
    of_jobs = {spec: 1.0 for spec in metrics.AGENT_CATALOGUE.values() if spec.per_job and spec.kind in SHOWN_AS_GIVEN}
    batch = batches.one(around=Contribution(metrics=every, job_metrics={"job-1": of_jobs}))

    assert check_metrics(generate_latest(shown(batch).registry)) == ""
    published = [name for name in names_of(shown(batch)) if "fleet_job_" in name and not name.endswith("_per_minute")]
    assert len(published) == len(of_jobs)


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


def test_a_jobs_utilization_is_not_rounded_to_whole_percents() -> None:
    # 0.4 % of busy time and 0.368 of 92 TFLOP/s: datums say 0 for both.
    exporter = shown(batches.one(samples.full_node(busy=0.4, flops=0.368e12)))

    assert one(exporter, "job_neuron_core_utilization_ratio", job="job-1") == pytest.approx(0.004)
    assert one(exporter, "job_tensor_engine_utilization_ratio", job="job-1") == pytest.approx(0.004)


def test_a_full_node_is_shown_as_a_whole_and_by_job() -> None:
    exporter = shown(batches.one(samples.full_node()))

    # 32 processes of 10 executions each; 32 x 36.8e12 FLOP/s; 2.5 % of a core for the agent.
    assert one(exporter, "node_executions_completed_total") == 320
    assert one(exporter, "node_flops_per_second") == 32 * 36.8e12
    assert one(exporter, "job_execution_latency_p99_seconds", job="job-1") == 0.04
    assert one(exporter, "node_cores") == one(exporter, "node_cores_allocated") == 32
    assert one(exporter, "node_cost_usd_per_hour") == 20
    assert one(exporter, "job_executions_completed_total", job="job-1") == 320
    assert one(exporter, "job_neuron_core_utilization_ratio", job="job-1", owner="research") == 0.5
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
        "BLIND", "CHECKPOINT", "COMPILING", "DRAINING", "FAULT", "NO_JOB", "PHASE", "RUNNING", "STARTUP", "WAITING"
    }  # fmt: skip


def test_the_node_is_described_once_and_not_in_every_series() -> None:
    exporter = shown(batches.one(samples.full_node()))

    told = {
        "instance_type": "trn1.32xlarge",
        "availability_zone": "us-west-2d",
        "owner": "research",
        "agent_version": VERSION,
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


def test_what_was_seen_before_a_node_went_blind_is_not_shown() -> None:
    full = batches.one(samples.full_node())
    exporter = shown(replace(full, metric_data=(), log_event={**full.log_event, "state": "BLIND"}))

    assert not [name for name in names_of(exporter) if name.startswith(("neuron_fleet_core", "neuron_fleet_device"))]


def test_what_the_driver_says_of_devices_is_shown_for_those_it_names() -> None:
    sysfs = {
        "index": [0, 3],
        "power_percent": {"avg": [18.75, None], "max": [25, None]},
        "hbm_peak_bytes": [None, 4096],
    }
    exporter = shown(batches.one(samples.full_node(), around=Contribution(event={"sysfs_devices": sysfs})))

    assert one(exporter, "device_power_ratio", neuron_device="0") == 0.1875
    assert one(exporter, "device_power_peak_ratio", neuron_device="0") == 0.25
    assert one(exporter, "device_memory_peak_bytes", neuron_device="3") == 4096
    assert one(exporter, "device_power_ratio", neuron_device="3") is None
    assert one(exporter, "device_memory_peak_bytes", neuron_device="0") is None


def test_a_core_above_its_peak_is_shown_as_it_was_measured() -> None:
    exporter = shown(batches.one(batches.SHAPES["above the peak, with memory errors"]))

    core = {"neuron_core": "0", "neuron_device": "0"}
    assert one(exporter, "core_utilization_ratio", **core) == 1.3
    assert one(exporter, "core_tensor_engine_utilization_ratio", **core) == pytest.approx(200 / 92)


def test_the_host_is_shown_where_it_was_measured() -> None:
    host = {"cpu_busy_percent": 12.5, "memory_used_bytes": 4096, "load": [1, 2, 3]}
    exporter = shown(batches.one(samples.full_node(), around=Contribution(event={"host": host})))

    assert one(exporter, "system_cpu_busy_ratio") == 0.125
    assert one(exporter, "system_memory_used_bytes") == 4096
    assert one(exporter, "system_cpu_iowait_ratio") is None


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


def test_every_collector_shows_whether_it_succeeded_and_how_long_it_took() -> None:
    costs = {"host": {"ms": 12.5, "ok": True}, "EFA": {"ms": 3, "ok": False}, "sysfs": {"ok": False}}
    exporter = shown(batches.one(samples.full_node(), around=Contribution(event={"collectors": costs})))

    assert one(exporter, "agent_collector_success", collector="host") == 1
    assert one(exporter, "agent_collector_duration_seconds", collector="host") == 0.0125
    assert one(exporter, "agent_collector_success", collector="EFA") == 0
    assert one(exporter, "agent_collector_success", collector="sysfs") == 0
    assert one(exporter, "agent_collector_duration_seconds", collector="sysfs") is None
    assert len([name for name, _ in scraped(exporter) if "_agent_collector_" in name]) == 5
    assert check_metrics(generate_latest(exporter.registry)) == ""


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
