"""Reports that are damaged, partial or absurd: what was measured is published, and nothing else is."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import samples
from tests.support.samples import GIB, MIB, Json, RuntimeSpec
from tests.unit.agents.truth.published import Table, assert_published, minute

# One runtime: core 0 at 50 % and 9.2 of 92 TFLOP/s = 10 %, 1 GiB of tensors and 1 MiB of code of 32 GiB, 30 executions.
USED = GIB + MIB
GOOD: Table = {
    "NeuronCoreUtilization": {50: 1},
    "NeuronCoreUtilizationWhenRunning": {50: 1},
    "TensorEngineUtilization": {10: 1},
    "TensorEngineUtilizationWhenRunning": {10: 1},
    "AchievedTflops": 9.2,
    "HbmUsedPercent": (1, *[100 * USED / (32 * GIB)] * 3),
    "ExecutionsCompleted": 30,
    "ExecutionErrors": 0,
    "CoresTotal": 2,
    "CoresAllocated": 1,
    "HardwareErrors": 0,
}
CORES = {name for name in GOOD if "Utilization" in name or name == "AchievedTflops"}
MEMORY = {"HbmUsedPercent", "CoresAllocated"}
EXECUTIONS = {"ExecutionsCompleted", "ExecutionErrors"}


def good() -> Json:
    return samples.report([RuntimeSpec(1, "a", {0: 50.0}, {0: 9.2e12}, {0: GIB}, 30, p99=0.04)], devices=1)


def section(made: Json, name: str, runtime: int = 0) -> Json:
    found: Json = made["neuron_runtime_data"][runtime]["report"][name]
    return found


def without(*names: str, **others: Any) -> Table:
    return {name: value for name, value in {**GOOD, **others}.items() if name not in names}


def test_null_sections_show_nothing_of_the_work() -> None:
    state, data, problems = minute(samples.null_sections())

    assert state == "BLIND"
    assert problems == ("no runtime's core counters could be read: neuroncore_counters is null",)
    # The devices' error counters were read, and are zero.
    assert_published(data, {"CoresTotal": 2, "HardwareErrors": 0})


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (samples.no_driver, "the Neuron driver is missing or not running: driver not loaded"),
        (samples.no_devices, "no Neuron device is visible"),
    ],
)
def test_a_node_without_driver_or_device_shows_nothing(made: Callable[[], Json], problem: str) -> None:
    state, data, problems = minute(made())

    assert (state, problems) == ("BLIND", (problem,))
    # How many cores there are is what the catalogue says of the instance type.
    assert_published(data, {"CoresTotal": 32})


def test_an_error_of_the_core_counters_makes_figures_beside_it_worthless() -> None:
    made = good()
    section(made, "neuroncore_counters")["error"] = "device busy"

    state, data, problems = minute(made)

    assert (state, problems) == ("BLIND", ("no runtime's core counters could be read: device busy",))
    assert_published(data, {"CoresTotal": 2, "HardwareErrors": 0})


def test_one_of_two_runtimes_whose_core_counters_cannot_be_read() -> None:
    other = RuntimeSpec(2, "b", {1: 99.0}, {1: 9e12}, {1: GIB}, 5)
    made = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {0: 9.2e12}, {0: GIB}, 30, p99=0.04), other], devices=1)
    section(made, "neuroncore_counters", 1)["error"] = "device busy"

    state, data, problems = minute(made)

    assert state == "RUNNING"
    assert problems == ("core counters of 1 of 2 runtimes could not be read: device busy",)
    # Its memory and executions were read: 2 x (1 GiB + 1 MiB), 30 + 5; it holds core 1, which has no figure, and
    # without it there is no sum of FLOP/s.
    used = 2 * USED
    expected = without(
        "AchievedTflops",
        HbmUsedPercent=(1, *[100 * used / (32 * GIB)] * 3),
        ExecutionsCompleted=35,
        CoresAllocated=2,
    )
    assert_published(data, expected)


@pytest.mark.parametrize("damage", ["null", "error", "absent"])
def test_memory_that_was_not_read_is_absent_and_its_holder_is_somebody(damage: str) -> None:
    made = good()
    groups = made["neuron_runtime_data"][0]["report"]
    match damage:
        case "null":
            groups["memory_used"] = None
        case "error":
            groups["memory_used"]["error"] = "cannot map"
        case _:
            del groups["memory_used"]

    state, data, _ = minute(made)

    assert state == "RUNNING"
    # Which other cores it holds is not known: no count of allocated cores.
    assert_published(data, without(*MEMORY))


def test_an_idle_runtime_whose_memory_was_not_read_is_not_nobody() -> None:
    made = samples.report([RuntimeSpec(1, "a")], devices=1)
    section(made, "memory_used")["error"] = "cannot map"

    state, data, _ = minute(made)

    assert state == "STARTUP"
    assert_published(data, {"CoresTotal": 2, "HardwareErrors": 0, "ExecutionsCompleted": 0, "ExecutionErrors": 0})


@pytest.mark.parametrize("damage", [None, {"error": "gone", "execution_summary": {"completed": 0}}])
def test_executions_that_were_not_read_are_absent(damage: Json | None) -> None:
    made = good()
    made["neuron_runtime_data"][0]["report"]["execution_stats"] = damage

    # Nothing was seen to complete, so the job may still be starting.
    assert_published(minute(made, has_job=True)[1], without(*EXECUTIONS, *[n for n in GOOD if "WhenRunning" in n]))


def test_a_zero_of_executions_is_not_known_when_one_report_of_the_minute_could_not_say() -> None:
    idle = samples.report([RuntimeSpec(1, "a", {}, {}, {0: GIB})], devices=1)
    unread = samples.report([RuntimeSpec(1, "a", {}, {}, {0: GIB})], devices=1)
    section(unread, "execution_stats")["error"] = "gone"

    names = {datum["MetricName"] for datum in minute(idle, unread)[1]}

    assert not names & EXECUTIONS


def test_executions_of_a_process_that_ended_within_the_minute_still_count() -> None:
    _, data, _ = minute(good(), samples.report([], devices=1), has_job=True)

    assert_published(data, without(CoresAllocated=0))


def test_groups_that_were_not_due_say_nothing_and_are_no_problem() -> None:
    partial = good()
    groups = partial["neuron_runtime_data"][0]["report"]
    for name in ("neuroncore_counters", "execution_stats"):
        del groups[name]
    partial["system_data"] = {}

    state, data, problems = minute(good(), partial)

    assert (state, problems) == ("RUNNING", ())
    assert_published(data, GOOD)


def test_the_first_report_after_each_start_has_no_rates() -> None:
    first = good()
    for name in ("neuroncore_counters", "execution_stats", "memory_used"):
        section(first, name)["period"] = 0.00047
    section(first, "neuroncore_counters")["neuroncores_in_use"]["0"]["neuroncore_utilization"] = 100
    section(first, "execution_stats")["execution_summary"]["completed"] = 999

    # Started twice in the minute: only the two full reports count.
    twice = without(
        NeuronCoreUtilization={50: 2},
        NeuronCoreUtilizationWhenRunning={50: 2},
        TensorEngineUtilization={10: 2},
        TensorEngineUtilizationWhenRunning={10: 2},
        ExecutionsCompleted=60,
    )
    assert_published(minute(first, good(), first, good())[1], twice)


@pytest.mark.parametrize(
    "damaged",
    [
        samples.line(good())[:700],
        b"\x00\xff\xfe garbage \x80",
        b"panic: runtime error: invalid memory address or nil pointer dereference\n",
        # JSON has neither; Go would not write them, and they are no figures.
        samples.line(good()).replace(b":50.0", b":NaN"),
        samples.line(good()).replace(b":50.0", b":Infinity"),
        samples.line(good()).replace(b":50.0", b":1e400"),
    ],
)
def test_a_damaged_line_costs_itself(damaged: bytes) -> None:
    state, data, problems = minute(damaged, good())

    assert state == "RUNNING"
    assert len(problems) == 1
    assert problems[0].startswith("1 unreadable lines, the last: not a neuron-monitor report")
    assert_published(data, GOOD)


def test_a_line_of_two_megabytes_is_a_line() -> None:
    made = good()
    model = {"name": "/cache/MODULE_1+2/model.neff", "model_id": 1, "is_running": True}
    section(made, "memory_used")["loaded_models"] = [model] * 30_000
    line = samples.line(made)

    assert len(line) > 2_000_000
    assert_published(minute(line)[1], GOOD)


@pytest.mark.parametrize(
    ("path", "value", "problem", "gone"),
    [
        (("neuroncore_counters", "neuroncores_in_use", "0", "neuroncore_utilization"), -1, "core utilization -1.0",
         {name for name in CORES if "NeuronCore" in name}),
        (("neuroncore_counters", "neuroncores_in_use", "0", "neuroncore_utilization"), 1e9,
         "core utilization 1000000000.0", {name for name in CORES if "NeuronCore" in name}),
        (("neuroncore_counters", "neuroncores_in_use", "0", "effective_flops"), 1e30, "FLOP/s 1e+30",
         {name for name in CORES if "Core" not in name}),
        (("memory_used", "neuron_runtime_used_bytes", "usage_breakdown", "neuroncore_memory_usage", "0", "tensors"),
         -5, "device memory -5.0", MEMORY),
        (("memory_used", "neuron_runtime_used_bytes", "usage_breakdown", "neuroncore_memory_usage", "0", "tensors"),
         1e300, "device memory 1e+300", MEMORY),
        (("execution_stats", "execution_summary", "timed_out"), -3, "timed_out -3.0", set()),
        (("execution_stats", "latency_stats", "device_latency", "p99"), -0.5, "latency -0.5", {"ExecutionLatencyP99"}),
    ],
)  # fmt: skip
def test_a_figure_that_cannot_be_is_left_out_and_named(
    path: tuple[str, ...], value: float, problem: str, gone: set[str]
) -> None:
    made = good()
    target = made["neuron_runtime_data"][0]["report"]
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = value

    state, data, problems = minute(json.loads(json.dumps(made)))

    assert (state, problems) == ("RUNNING", (f"{problem} cannot be; left out",))
    assert_published(data, without(*gone))


def test_more_than_a_hundred_percent_counts_as_a_hundred_and_is_said() -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 130.0}, {0: 138e12}, {0: GIB}, 30, p99=0.04)], devices=1)

    _, data, problems = minute(made)

    # 138 / 92 = 150 %: fp8 figures against a bf16 peak look like this. TFLOP/s are as they were reported.
    assert problems == (
        "core utilization: 1 cores above 100 %, core 0 the most with 130.0 %; counted as 100",
        "tensor-engine utilization: 1 cores above 100 %, core 0 the most with 150.0 %; counted as 100",
    )
    full = {name: {100: 1} for name in CORES if name != "AchievedTflops"}
    assert_published(data, without(**full, AchievedTflops=138))
