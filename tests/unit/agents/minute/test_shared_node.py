"""Several jobs on one node: each one's cores, executions, devices and dollars, by hand."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents.collectors.collector import Contribution, WorkloadReport
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute
from agents.minute.job_shares import MAX_JOBS
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from fleet import metrics
from fleet.metrics import MetricSpec
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.agents import MINUTE
from tests.support.samples import GIB, MIB, Json, RuntimeSpec

# Two devices of two cores. Job a holds three cores and computes; job b holds the last one and hangs.
SHARED = samples.report(
    [
        RuntimeSpec(1, "1", {0: 80.0, 1: 60.0}, {0: 46e12, 1: 27.6e12}, {0: 8 * GIB, 1: 4 * GIB}, 100, p99=0.04),
        RuntimeSpec(2, "1", {2: 40.0}, {2: 9.2e12}, {2: 2 * GIB}, 50, timed_out=1, p99=0.07),
        RuntimeSpec(3, "1", {}, {}, {3: 6 * GIB}, 0),
    ],
    devices=2,
)


def job(name: str, *pids: int) -> Job:
    return Job(name, f"run {name}", f"owner of {name}", registered=True, pids=pids)


def around(*jobs: Job, **more: Any) -> Surroundings:
    return Surroundings(Contribution(jobs=jobs, **more))


def datum(entry: NodeMinute, name: str, job_id: str | None) -> Mapping[str, Any]:
    """The one datum of ``name`` for the job, or for the fleet when there is none."""
    wanted = {"Environment": "test", "Fleet": "pretrain"} | ({} if job_id is None else {"JobId": job_id})
    found = [
        made
        for made in metric_data(entry)
        if made["MetricName"] == name and {each["Name"]: each["Value"] for each in made["Dimensions"]} == wanted
    ]
    assert len(found) <= 1
    return found[0] if found else {}


def value(entry: NodeMinute, name: str, job_id: str | None) -> float | None:
    return datum(entry, name, job_id).get("Value")


@pytest.fixture
def shared() -> NodeMinute:
    return agents.one_minute(SHARED, SHARED, SHARED, around=around(job("a", 1, 2), job("b", 3)))


def test_each_job_has_the_utilization_of_its_cores(shared: NodeMinute) -> None:
    assert datum(shared, "NeuronCoreUtilization", "a")["Values"] == [40.0, 60.0, 80.0]
    assert datum(shared, "NeuronCoreUtilization", "a")["Counts"] == [3.0, 3.0, 3.0]
    assert datum(shared, "NeuronCoreUtilization", "b")["Values"] == [0.0]
    # Of a peak of 92 TFLOP/s: 46, 27.6 and 9.2 are 50, 30 and 10 %.
    assert datum(shared, "TensorEngineUtilizationWhenRunning", "a")["Values"] == [10.0, 30.0, 50.0]
    assert datum(shared, "TensorEngineUtilizationWhenRunning", "b")["Values"] == [0.0]
    assert datum(shared, "NeuronCoreUtilization", None)["Counts"] == [3.0, 3.0, 3.0, 3.0]
    assert value(shared, "AchievedTflops", "a") == pytest.approx(82.8)
    assert value(shared, "AchievedTflops", "b") == 0


def test_a_job_that_hangs_beside_one_that_runs_is_seen(shared: NodeMinute) -> None:
    assert shared.verdict.state is NodeState.RUNNING
    # 3 x (100 + 50), and the node's figure hides that b does nothing.
    assert value(shared, "ExecutionsCompleted", None) == 450
    assert (value(shared, "ExecutionsCompleted", "a"), value(shared, "ExecutionsCompleted", "b")) == (450, 0)
    assert (value(shared, "ExecutionErrors", "a"), value(shared, "ExecutionErrors", "b")) == (3, 0)
    assert (value(shared, "ExecutionLatencyP99", "a"), value(shared, "ExecutionLatencyP99", "b")) == (0.07, None)
    jobs = log_event(shared)["jobs"]
    assert jobs[1] == {
        "job": "b",
        "job_name": "run b",
        "owner": "owner of b",
        "known_by": "registration",
        "cores": 1.0,
        "executions_completed": 0,
        "execution_errors": 0,
        "tensor_engine_utilization": 0.0,
        "neuron_core_utilization": 0.0,
        "slowest_core_utilization": 0.0,
        "cost_usd_per_hour": 5.0,
        "wasted_usd_per_hour": 5.0,
    }
    assert (log_event(shared)["job"], log_event(shared)["owner"]) == ("a", "owner of a")


def test_jobs_on_one_device_both_see_all_of_it(shared: NodeMinute) -> None:
    first, second = 12 * GIB + 2 * MIB, 8 * GIB + 2 * MIB

    used = datum(shared, "HbmUsedBytes", "a")["StatisticValues"]
    assert used == {"SampleCount": 2.0, "Sum": first + second, "Minimum": second, "Maximum": first}
    used = datum(shared, "HbmUsedBytes", "b")["StatisticValues"]
    assert used == {"SampleCount": 1.0, "Sum": second, "Minimum": second, "Maximum": second}


def test_the_price_is_split_by_cores_and_so_is_the_waste(shared: NodeMinute) -> None:
    # 20 USD an hour for 3 and 1 of the 4 cores.
    assert (value(shared, "CostUsdPerHour", "a"), value(shared, "CostUsdPerHour", "b")) == (15, 5)
    assert value(shared, "CostUsdPerHour", None) == 20
    # a: (50 + 30 + 10) / 3 = 30 % of a target of 40, so 15 x (1 - 30/40) = 3.75. b: all of its 5.
    assert (value(shared, "WastedUsdPerHour", "a"), value(shared, "WastedUsdPerHour", "b")) == (3.75, 5)
    assert value(shared, "WastedUsdPerHour", None) == 8.75


def test_a_job_above_its_target_makes_up_for_nothing_that_another_wastes() -> None:
    good = RuntimeSpec(1, "a", {0: 99.0}, {0: 73.6e12}, {0: GIB}, 5)
    bad = RuntimeSpec(2, "b", {1: 99.0}, {1: 9.2e12}, {1: GIB}, 5)

    entry = agents.one_minute(samples.report([good, bad], devices=1), around=around(job("a", 1), job("b", 2)))

    # 80 % and 10 %: their mean of 45 is above the target of 40, and yet b wastes 10 x (1 - 10/40).
    assert value(entry, "WastedUsdPerHour", "a") == 0
    assert value(entry, "WastedUsdPerHour", "b") == value(entry, "WastedUsdPerHour", None) == 7.5


def test_on_damaged_hardware_each_jobs_share_is_wasted_whole() -> None:
    hit: Json = {**SHARED, "system_data": samples.report([], ecc={1: {"mem_ecc_uncorrected": 1}})["system_data"]}

    entry = agents.one_minute(hit, around=around(job("a", 1, 2), job("b", 3)))

    assert entry.verdict.state is NodeState.FAULT
    assert [share.wasted_usd_per_hour for share in entry.jobs] == [15, 5]
    assert entry.wasted_usd_per_hour == 20


def test_cores_that_nobody_holds_are_paid_for_by_those_who_hold_the_rest() -> None:
    specs = [RuntimeSpec(pid, "1", {pid: 50.0}, {}, {pid: GIB}, 5) for pid in range(3)]

    entry = agents.one_minute(samples.report(specs), around=around(*(job(f"j{pid}", pid) for pid in range(3))))

    # Three of 32 cores: a third each, and the first two get a millionth each that is left over.
    costs = [value(entry, "CostUsdPerHour", f"j{pid}") for pid in range(3)]
    assert costs == [6.666667, 6.666667, 6.666666]


def test_a_shared_core_counts_for_each_of_its_holders_by_its_part() -> None:
    specs = [
        RuntimeSpec(1, "a", {0: 30.0, 1: 10.0}, {}, {0: GIB, 1: GIB}, 5),
        RuntimeSpec(2, "b", {0: 50.0}, {}, {0: GIB}, 5),
    ]

    entry = agents.one_minute(samples.report(specs, devices=1), around=around(job("a", 1), job("b", 2)))

    # a: core 1 and half of core 0. Busy time cannot be divided, so core 0 is at 50 % for both.
    assert [(share.job.job_id, share.cores) for share in entry.jobs] == [("a", 1.5), ("b", 0.5)]
    assert (value(entry, "CostUsdPerHour", "a"), value(entry, "CostUsdPerHour", "b")) == (15, 5)
    assert datum(entry, "NeuronCoreUtilization", "a")["Values"] == [10.0, 50.0]
    assert datum(entry, "NeuronCoreUtilization", "b")["Values"] == [50.0]
    assert value(entry, "CoresAllocated", None) == 2


def test_processes_that_no_job_claims_are_unattributed_when_they_hold_cores() -> None:
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2)))

    assert [share.job.job_id for share in entry.jobs] == ["a", "unattributed"]
    assert value(entry, "ExecutionsCompleted", "unattributed") == 0
    assert log_event(entry)["jobs"][1]["known_by"] == "nothing"
    assert log_event(entry)["jobs"][1]["owner"] == "models"


def test_a_runtime_that_holds_nothing_makes_no_job() -> None:
    entry = agents.one_minute(samples.report([RuntimeSpec(1, "a")]), around=around())

    assert (entry.jobs, entry.verdict.state) == ((), NodeState.NO_JOB)


def test_a_registered_job_without_a_process_did_nothing_and_costs_nothing_beside_one_that_holds_the_cores() -> None:
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2, 3), job("b")))

    assert value(entry, "ExecutionsCompleted", "b") == 0
    assert (value(entry, "CostUsdPerHour", "a"), value(entry, "CostUsdPerHour", "b")) == (20, 0)
    assert not datum(entry, "NeuronCoreUtilization", "b")


def test_jobs_without_a_process_on_an_empty_node_pay_equal_parts() -> None:
    entry = agents.one_minute(samples.report([]), around=around(job("a"), job("b")))

    assert (value(entry, "CostUsdPerHour", "a"), value(entry, "CostUsdPerHour", "b")) == (10, 10)
    assert value(entry, "ExecutionsCompleted", "a") == 0


def test_a_process_that_ended_within_the_minute_still_counts_for_its_job() -> None:
    only_b = samples.report([RuntimeSpec(3, "1", {3: 5.0}, {}, {3: GIB}, 7)], devices=2)

    entry = agents.one_minute(SHARED, only_b, around=around(job("a", 1, 2), job("b", 3)))

    assert (value(entry, "ExecutionsCompleted", "a"), value(entry, "ExecutionsCompleted", "b")) == (150, 7)
    assert datum(entry, "NeuronCoreUtilization", "a")["Values"] == [40.0, 60.0, 80.0]
    # At the end of the minute b holds the only core.
    assert (value(entry, "CostUsdPerHour", "a"), value(entry, "CostUsdPerHour", "b")) == (0, 20)


def test_unmeasured_work_of_one_job_is_missing_and_not_zero() -> None:
    a = RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 5, flop_keys=())
    b = RuntimeSpec(2, "b", {1: 50.0}, {}, {1: GIB}, 5)
    made: Json = samples.report([a, b], devices=1)
    made["neuron_runtime_data"][1]["report"].update(execution_stats=None, neuroncore_counters=None)

    entry = agents.one_minute(made, around=around(job("a", 1), job("b", 2)))

    assert value(entry, "ExecutionsCompleted", "a") == 5
    assert value(entry, "ExecutionsCompleted", "b") is None
    assert not datum(entry, "NeuronCoreUtilization", "b")
    assert value(entry, "WastedUsdPerHour", "b") is None
    # What is known of: 10 x (1 - 50/70), without FLOPs.
    assert value(entry, "WastedUsdPerHour", None) == pytest.approx(2.857, abs=0.001)


def test_outside_running_no_job_says_when_running_and_while_blind_nothing_of_its_work() -> None:
    jobs = (job("a", 1, 2), job("b", 3))
    draining = agents.one_minute(SHARED, around=around(*jobs, draining="spot notice"))
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    agents.feed(pipeline, MINUTE, SHARED, around=around(*jobs))
    blind = agents.feed(pipeline, MINUTE + 60, around=around(*jobs))

    assert not any("WhenRunning" in made["MetricName"] for made in metric_data(draining))
    assert value(draining, "WastedUsdPerHour", "b") is None
    names = {made["MetricName"] for made in metric_data(blind) if len(made["Dimensions"]) == 3}
    assert names == {"CostUsdPerHour"}
    # Who held the cores when last seen pays for them.
    assert (value(blind, "CostUsdPerHour", "a"), value(blind, "CostUsdPerHour", "b")) == (15, 5)


def test_a_minute_in_which_nobody_could_look_for_jobs_has_those_of_the_last() -> None:
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    agents.feed(pipeline, MINUTE, SHARED, around=around(job("a", 1, 2), job("b", 3)))

    entry = agents.feed(pipeline, MINUTE + 60, SHARED, around=Surroundings(Contribution()))
    gone = agents.feed(pipeline, MINUTE + 120, SHARED, around=around())

    assert [share.job.job_id for share in entry.jobs] == ["a", "b"]
    assert [share.job.job_id for share in gone.jobs] == ["unattributed"]


def test_the_nodes_state_stays_with_a_job_whatever_the_others_do() -> None:
    a, b = RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 5), RuntimeSpec(2, "b", {1: 50.0}, {}, {1: GIB, 2: GIB}, 5)
    idle = RuntimeSpec(2, "b", {}, {}, {1: GIB, 2: GIB}, 0)
    both = around(job("a", 1), job("b", 2))
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    agents.feed(pipeline, MINUTE, samples.report([a], devices=2), around=around(job("a", 1)))

    # b is larger from here on, and then alone and idle.
    second = agents.feed(pipeline, MINUTE + 60, samples.report([a, b], devices=2), around=both)
    third = agents.feed(pipeline, MINUTE + 120, samples.report([idle], devices=2), around=around(job("b", 2)))
    new = agents.feed(pipeline, MINUTE + 180, samples.report([idle], devices=2), around=around(job("c", 2)))

    assert second.verdict.memory.job == "a"
    assert second.verdict.memory.since == MINUTE
    # It was there before and is not excused as starting up; a job that nobody saw before is.
    assert third.verdict.memory.job == "b"
    assert third.verdict.state is NodeState.RUNNING
    assert new.verdict.state is NodeState.STARTUP


def test_a_job_that_is_not_recognised_for_a_minute_does_not_start_anew() -> None:
    idle = samples.report([RuntimeSpec(1, "a", {}, {}, {0: GIB}, 0)])
    busy = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 5)])
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    agents.feed(pipeline, MINUTE, busy, around=around(job("a", 1)))

    unknown = agents.feed(pipeline, MINUTE + 60, idle, around=around())
    known = agents.feed(pipeline, MINUTE + 120, idle, around=around(job("a", 1)))

    assert unknown.job is not None
    assert unknown.job.job_id == "unattributed"
    # Hung for two minutes, and not starting up.
    assert (unknown.verdict.state, known.verdict.state) == (NodeState.RUNNING, NodeState.RUNNING)
    assert known.verdict.reason == "no execution completed for 2 min"


def test_more_jobs_than_series_can_be_paid_for_are_folded_and_said() -> None:
    # Job 0 holds two cores, so that it is certainly kept.
    specs = [RuntimeSpec(100 + n, "1", {n: 50.0}, {}, {n: GIB}, 5) for n in range(20)]
    specs[0] = RuntimeSpec(100, "1", {0: 50.0, 20: 50.0}, {}, {0: GIB, 20: GIB}, 5)

    entry = agents.one_minute(samples.report(specs), around=around(*(job(f"j{n:02d}", 100 + n) for n in range(20))))

    assert len(entry.jobs) == MAX_JOBS == 16
    assert [share.job.job_id for share in entry.jobs][:2] == ["unattributed", "j00"]
    # 15 jobs are kept, and 5 of one core each are not.
    assert entry.jobs[0].cores == 5
    assert value(entry, "ExecutionsCompleted", "unattributed") == 25
    assert "20 jobs share the node; the smallest of them count as unattributed" in entry.problems
    assert sum(share.cost_usd_per_hour or 0 for share in entry.jobs) == pytest.approx(20, abs=1e-9)


LOSS: dict[MetricSpec, float] = {metrics.TRAINING_LOSS: 2.5}


def test_figures_without_a_job_are_the_only_jobs() -> None:
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2, 3), job_metrics={"": LOSS}))

    assert value(entry, "TrainingLoss", "a") == 2.5
    assert entry.problems == ()


def test_figures_without_a_job_on_a_shared_node_are_nobodys() -> None:
    more = {"": LOSS, "b": {metrics.TRAINING_LOSS: 1.5}}
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2), job("b", 3), job_metrics=more))

    assert (value(entry, "TrainingLoss", "a"), value(entry, "TrainingLoss", "b")) == (None, 1.5)
    assert entry.problems == ("a workload reports figures without a job, and 2 jobs are on the node",)


@pytest.mark.parametrize(
    ("job_id", "reported"), [("4e6f", "4e6f#3"), ("4e6f", "4e6f:17"), ("36", "36_2"), ("36_2", "36_2")]
)
def test_a_part_of_a_job_reports_for_the_job(job_id: str, reported: str) -> None:
    count = {metrics.NON_FINITE_LOSS: 1.0}
    entry = agents.one_minute(SHARED, around=around(job(job_id, 1, 2, 3), job_metrics={reported: count, "": count}))

    assert value(entry, "NonFiniteLoss", job_id) == 2


@pytest.mark.parametrize("reported", ["4e6f#", "4e6f-3", "4e6_2", "other#1"])
def test_what_only_looks_like_a_part_is_a_job_of_its_own(reported: str) -> None:
    entry = agents.one_minute(SHARED, around=around(job("4e6f", 1, 2, 3), job("4e6"), job_metrics={reported: LOSS}))

    assert value(entry, "TrainingLoss", reported) == 2.5


def test_workloads_cannot_make_up_jobs_without_end() -> None:
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2, 3), job_metrics={f"x{n}": LOSS for n in range(30)}))

    assert sum(made["MetricName"] == "TrainingLoss" for made in metric_data(entry)) == MAX_JOBS
    assert len(entry.problems) == 30 - MAX_JOBS


def test_cores_of_processes_that_have_ended_are_a_problem() -> None:
    entry = agents.one_minute(SHARED, around=around(job("a", 1, 2, 3), ended=(1, 77)))

    assert entry.problems == ("2 cores are held by 1 processes that have ended: pid 1",)


def test_a_series_has_one_datum_whatever_collectors_say() -> None:
    more = {metrics.CORES_TOTAL: 9.0, metrics.EFA_RETRANSMITS: 2.0, metrics.TOKENS_PER_SECOND: 1.0}
    entry = agents.one_minute(SHARED, around=around(metrics=more))

    assert (value(entry, "CoresTotal", None), value(entry, "EfaRetransmits", None)) == (4, 2)
    # A metric of jobs has no series of the fleet.
    assert value(entry, "TokensPerSecond", None) is None


def test_a_collector_cannot_speak_over_the_nodes_own_properties() -> None:
    event = log_event(agents.one_minute(SHARED, around=around(event={"state": "FINE", "efa": 1})))

    assert (event["state"], event["efa"]) == ("RUNNING", 1)


def serving(**load: Any) -> Contribution:
    reports = tuple(WorkloadReport(each, 1, **load) for each in ("a", "b"))
    return Contribution(jobs=(job("a", 1, 2), job("b", 3)), workload_reports=reports)


def test_an_endpoints_load_is_of_the_cores_that_serve() -> None:
    entry = agents.one_minute(
        SHARED, around=Surroundings(serving(requests_in_flight_mean=6.0, queue_seconds_mean=0.25))
    )

    # Twelve requests of two processes, on four cores that runtimes hold.
    assert value(entry, "RequestsInFlightPerCore", None) == 3.0
    assert value(entry, "QueueSeconds", None) == 0.25


def test_an_endpoint_without_requests_waits_for_nothing_and_has_nothing_in_flight() -> None:
    entry = agents.one_minute(SHARED, around=Surroundings(serving(requests_in_flight_mean=0.0)))

    assert value(entry, "RequestsInFlightPerCore", None) == 0.0
    # Nobody waited, so how long is not known.
    assert value(entry, "QueueSeconds", None) is None


def test_who_reports_no_load_has_none() -> None:
    entry = agents.one_minute(SHARED, around=Surroundings(serving()))

    assert value(entry, "RequestsInFlightPerCore", None) is None
