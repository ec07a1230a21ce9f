"""Counts of minutes as Prometheus's counters."""

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.batch import Batch
from agents.sinks.prometheus.exporter import PrometheusExporter
from fleet import metrics
from tests.support import agents, batches, samples
from tests.support.samples import Json, RuntimeSpec
from tests.support.scrape import EVERYWHERE, Ticks, one, shown


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


def job(name: str) -> Job:
    return Job(name, name, "", registered=True)


def test_ten_thousand_jobs_do_not_stay_in_memory() -> None:
    exporter = PrometheusExporter(Ticks())
    tokens = {metrics.NON_FINITE_LOSS: 1.0}

    for block in range(10):
        of_jobs = {f"job-{block}-{index}": tokens for index in range(1000)}
        exporter.show(batches.one(around=Contribution(job_metrics=of_jobs)))

    assert len(exporter._totals._values) <= 2048


def test_an_error_that_two_sources_saw_is_one_series() -> None:
    seen = {"kind": "hbm-uncorrectable", "action": "replace", "device": 3, "count": 2}
    twice = [seen, {**seen, "count": 1}]
    exporter = shown(Batch(agents.MINUTE, 1, "s", (), {**dict(EVERYWHERE), "hardware_errors": twice}))

    labels = {"neuron_device": "3", "kind": "hbm-uncorrectable", "action": "replace"}
    assert one(exporter, "device_hardware_errors_total", **labels) == 3
