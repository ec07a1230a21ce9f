"""A minute's datums and log event, figures by hand."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from fleet import metrics
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.samples import GIB, MIB, RuntimeSpec

JOB = Job("job-1", "llama", "research", registered=True)


def datum(entry: NodeMinute, name: str, sets: int = 2) -> Mapping[str, Any]:
    """The datum of ``name`` with ``sets`` dimensions; empty when there is none."""
    found = [made for made in metric_data(entry) if made["MetricName"] == name and len(made["Dimensions"]) == sets]
    assert len(found) <= 1
    return found[0] if found else {}


def value(entry: NodeMinute, name: str, sets: int = 2) -> float | None:
    return datum(entry, name, sets).get("Value")


def test_a_minute_of_two_cores() -> None:
    spec = RuntimeSpec(1, "a", {0: 89.4, 1: 60.0}, {0: 34.8e12, 1: 46e12}, {0: 8 * GIB, 1: 4 * GIB}, 100, 1, 0, 0.04)
    made = samples.report([spec], devices=1)

    entry = agents.one_minute(made, made, made, around=Surroundings(Contribution(jobs=(JOB,))))

    assert {**datum(entry, "NeuronCoreUtilization"), "Timestamp": ""} == {
        "MetricName": "NeuronCoreUtilization",
        "Dimensions": [{"Name": "Environment", "Value": "test"}, {"Name": "Fleet", "Value": "pretrain"}],
        "Timestamp": "",
        "Unit": "Percent",
        "StorageResolution": 60,
        "Values": [60.0, 89.0],
        "Counts": [3.0, 3.0],
    }
    # 34.8 / 92 = 37.8 % and 46 / 92 = 50 %: busy is not the same as computing.
    assert datum(entry, "TensorEngineUtilizationWhenRunning", 3)["Values"] == [38.0, 50.0]
    # 12 GiB and 2 MiB of code on one device of 32 GiB.
    used = 12 * GIB + 2 * MIB
    assert datum(entry, "HbmUsedBytes", 3)["StatisticValues"] == {
        "SampleCount": 1.0, "Sum": used, "Minimum": used, "Maximum": used,
    }  # fmt: skip
    assert datum(entry, "HbmUsedPercent")["StatisticValues"]["Maximum"] == pytest.approx(37.506, abs=0.001)
    assert value(entry, "AchievedTflops") == pytest.approx(80.8)
    assert value(entry, "ExecutionsCompleted", 3) == 300
    assert value(entry, "ExecutionErrors") == 3
    assert value(entry, "ExecutionLatencyP99", 3) == 0.04
    assert (value(entry, "CoresTotal"), value(entry, "CoresAllocated")) == (2, 2)
    assert value(entry, "CostUsdPerHour", 3) == 20
    # Mean of 37.83 and 50 is 43.9, above the target of 40: nothing is wasted.
    assert value(entry, "WastedUsdPerHour") == 0
    assert entry.verdict.state is NodeState.RUNNING


def test_the_log_event_holds_what_metrics_cannot() -> None:
    spec = RuntimeSpec(1, "secret-run-name", {0: 20.0}, {0: 9.2e12}, {0: GIB}, 100)
    made = samples.report([spec], devices=1, ecc={0: {"sram_ecc_uncorrected": 1}})

    event = log_event(agents.one_minute(made, around=Surroundings(Contribution(jobs=(JOB,)))))

    assert event["node"] == "i-1"
    assert event["owner"] == "research"
    assert event["cores"] == {
        "utilization": [20.0, None],
        "flops": [9_200_000_000_000, None],
        "bytes": [GIB + MIB, None],
    }
    assert event["hardware_errors"] == [
        {"kind": "sram-uncorrectable", "action": "replace", "device": 0, "count": 1, "sources": ["monitor-ecc"]}
    ]
    assert event["tensor_engine_utilization"] == 10.0
    assert event["price"]["as_of"] == "2026-11-01"
    assert event["minute"] == "2026-11-21T03:00:00Z"
    assert "secret-run-name" not in str(event)
    assert ".neff" not in str(event)


def test_a_node_without_a_job_wastes_its_whole_price_and_names_no_job() -> None:
    entry = agents.one_minute(samples.report([]))

    assert entry.verdict.state is NodeState.NO_JOB
    assert value(entry, "WastedUsdPerHour") == 20
    assert value(entry, "CoresAllocated") == 0
    assert not any(len(made["Dimensions"]) == 3 for made in metric_data(entry))
    assert not datum(entry, "HbmUsedPercent")


def test_cores_above_one_hundred_percent_are_flagged() -> None:
    entry = agents.one_minute(samples.report([RuntimeSpec(1, "a", {0: 130.0}, {0: 184e12}, {0: GIB}, 5)], devices=1))

    assert datum(entry, "NeuronCoreUtilization")["Values"] == [100.0]
    assert any("core 0 the most with 130.0 %" in problem for problem in entry.problems)
    assert any("tensor-engine utilization" in problem and "200.0 %" in problem for problem in entry.problems)


def test_without_flops_there_is_no_tensor_utilization_and_waste_goes_by_core_utilization() -> None:
    spec = RuntimeSpec(1, "a", {0: 35.0}, {}, {0: GIB}, 5, flop_keys=())

    entry = agents.one_minute(samples.report([spec], devices=1))

    assert not datum(entry, "TensorEngineUtilization")
    assert value(entry, "AchievedTflops") is None
    # 20 x (1 - 35 / 70)
    assert value(entry, "WastedUsdPerHour") == 10


def test_a_silent_monitor_is_blind_and_says_nothing_about_work() -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)
    agents.feed(pipeline, agents.MINUTE, samples.full_node())

    entry = agents.feed(pipeline, agents.MINUTE + 60, around=Surroundings(monitor="neuron-monitor ended with code 1"))

    assert entry.verdict.state is NodeState.BLIND
    assert "neuron-monitor ended with code 1" in entry.verdict.reason
    names = {made["MetricName"] for made in metric_data(entry)}
    assert not names & {"NeuronCoreUtilization", "HbmUsedPercent", "ExecutionsCompleted", "CoresAllocated"}
    assert value(entry, "ReportAgeSeconds") == 120
    assert value(entry, "NodesBlind") == 1
    assert value(entry, "CostUsdPerHour") == 20


def test_a_monitor_that_dies_early_in_the_minute_makes_it_blind() -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)
    pipeline.line(samples.line(samples.full_node()), agents.MINUTE)

    entry = pipeline.close(agents.MINUTE, agents.MINUTE + 60, 1, Surroundings(), agents.one_minute().own)

    assert entry.verdict.state is NodeState.BLIND


def test_one_unreadable_line_is_counted_and_costs_nothing() -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)
    assert not pipeline.line(b'{"neuron_runtime_data": [', agents.MINUTE)

    entry = agents.feed(pipeline, agents.MINUTE, samples.full_node())

    assert entry.verdict.state is NodeState.RUNNING
    assert any("1 unreadable lines" in problem for problem in entry.problems)


def test_between_two_reports_holders_are_as_last_seen_and_figures_unknown() -> None:
    pipeline = Pipeline(agents.config(period_seconds=60), "i-1", agents.MINUTE)
    agents.feed(pipeline, agents.MINUTE, samples.report([RuntimeSpec(1, "a", {0: 9.0}, {}, {0: GIB}, 5)], seconds=60))

    entry = agents.feed(pipeline, agents.MINUTE + 60)

    assert entry.verdict.state is NodeState.RUNNING
    assert value(entry, "CoresAllocated") == 1
    assert not datum(entry, "NeuronCoreUtilization")
    assert value(entry, "WastedUsdPerHour") is None


def test_a_cumulative_error_counter_is_one_error() -> None:
    made = samples.report([], ecc={6: {"mem_ecc_uncorrected": 1}})

    entry = agents.one_minute(made, made, made)

    assert value(entry, "HardwareErrors") == 1
    assert entry.verdict.state is NodeState.FAULT


def test_an_error_counter_per_period_counts_each_rise() -> None:
    quiet, hit = samples.report([]), samples.report([], ecc={6: {"mem_ecc_uncorrected": 1}})

    assert value(agents.one_minute(hit, quiet, hit), "HardwareErrors") == 2


def test_executions_that_fail_for_the_hardware_are_a_fault() -> None:
    entry = agents.one_minute(samples.report([RuntimeSpec(1, "a", {0: 9.0}, {}, {0: 1}, hardware_errors=2)]))

    assert value(entry, "HardwareErrors") == 2
    assert "execution-hardware" in entry.verdict.reason


def test_compiling_is_excused() -> None:
    made = samples.report([RuntimeSpec(1, "a", tensors={0: GIB})])
    around = Surroundings(Contribution(jobs=(JOB,), compiling=True))

    entry = agents.one_minute(made, around=around)

    assert entry.verdict.state is NodeState.COMPILING
    assert not datum(entry, "NeuronCoreUtilizationWhenRunning")
    assert value(entry, "WastedUsdPerHour") is None


def test_cores_held_by_nobody_known_are_unattributed() -> None:
    entry = agents.one_minute(samples.colliding_tags())

    assert {"Name": "JobId", "Value": "unattributed"} in datum(entry, "NeuronCoreUtilization", 3)["Dimensions"]


def test_every_datum_has_the_shape_of_its_metrics_kind() -> None:
    shapes = {
        metrics.Kind.DISTRIBUTION: {"Values", "Counts"},
        metrics.Kind.STATISTICS: {"StatisticValues"},
        metrics.Kind.GAUGE: {"Value"},
        metrics.Kind.PER_MINUTE: {"Value"},
        metrics.Kind.STATE: {"Value"},
    }
    around = Surroundings(Contribution(jobs=(JOB,)))
    made = metric_data(agents.one_minute(samples.full_node(), instance_type="trn1.32xlarge", around=around))

    found = {each["MetricName"]: each.keys() & set().union(*shapes.values()) for each in made}
    assert found == {name: shapes[metrics.CATALOGUE[name].kind] for name in found}
    assert {metrics.CATALOGUE[name].kind for name in found} == set(shapes)
