"""Shapes that no recording covers: who holds what, which FLOP key, how cores are grouped. Figures by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.support import samples
from tests.support.samples import GIB, MIB, Json, RuntimeSpec
from tests.unit.agents.truth.published import Table, assert_published, minute

TRN1, TRN2 = 32 * GIB, 96 * GIB


def hbm(size: int, *devices: int) -> dict[str, tuple[float, ...]]:
    """The metric of devices with so many bytes used, of ``size`` each."""
    shares = [100 * used / size for used in devices]
    return {"HbmUsedPercent": (len(devices), sum(shares), min(shares), max(shares))}


def running(cores: Mapping[int, int], tensor: Mapping[int, int]) -> dict[str, Mapping[int, int]]:
    """Both utilizations, and both again because the state is RUNNING."""
    return {
        "NeuronCoreUtilization": cores,
        "NeuronCoreUtilizationWhenRunning": cores,
        **({"TensorEngineUtilization": tensor, "TensorEngineUtilizationWhenRunning": tensor} if tensor else {}),
    }


def counts(completed: int, failed: int, total: int, allocated: int) -> dict[str, float]:
    return {
        "ExecutionsCompleted": completed,
        "ExecutionErrors": failed,
        "CoresTotal": total,
        "CoresAllocated": allocated,
        "HardwareErrors": 0,
    }


def ungrouped(cores: int) -> Json:
    """Trainium2 with LNC 1, as far as it is documented: eight cores a device, none of them grouped."""
    each = range(cores)
    spec = RuntimeSpec(1, "a", dict.fromkeys(each, 25.0), dict.fromkeys(each, 19.75e12), dict.fromkeys(each, GIB), 6)
    made = samples.report([spec], devices=cores // 8, cores_per_device=8, instance_type="trn2.48xlarge")
    made["neuron_hardware_info"].update(
        neuron_device_type="trainium2",
        neuroncore_version="v3",
        neuron_device_memory_size=TRN2,
        logical_neuroncore_config=1,
    )
    return made


# 32 processes, 1,024 core entries: each core is one process's and counts once. 36.8 of 92 TFLOP/s is 40 %. By device
# two cores of 4 GiB tensors and 1 MiB code. 32 x 36.8 = 1,177.6 TFLOP/s, 32 x 10 executions.
FULL: Table = {
    **running({50: 32}, {40: 32}),
    **hbm(TRN1, *[8 * GIB + 2 * MIB] * 16),
    "AchievedTflops": 1177.6,
    **counts(320, 0, 32, 32),
}


def test_32_processes_on_32_cores() -> None:
    state, data, problems = minute(samples.full_node())

    assert (state, problems) == ("RUNNING", ())
    assert_published(data, FULL)


def test_twelve_reports_are_one_minute() -> None:
    _, data, _ = minute(*[samples.full_node()] * 12)

    # Utilization counts each report, executions add up, memory and TFLOP/s do not.
    many = {**running({50: 384}, {40: 384}), "ExecutionsCompleted": 3840}
    assert_published(data, {**FULL, **many})


def test_four_containers_whose_tags_collide() -> None:
    state, data, problems = minute(samples.colliding_tags())

    assert (state, problems) == ("RUNNING", ())
    # Two cores of 60 + 1 MiB on each of two devices; the tool has FLOP/s and they are 0. One execution each.
    expected = {
        **running({10: 1, 20: 1, 30: 1, 40: 1}, {0: 4}),
        **hbm(TRN1, 122 * MIB, 122 * MIB),
        "AchievedTflops": 0,
        **counts(4, 0, 4, 4),
    }
    assert_published(data, expected)


def test_containers_without_a_host_pid_whose_tags_collide() -> None:
    made = samples.colliding_tags()
    for runtime in made["neuron_runtime_data"]:
        runtime["pid"] = None

    _, data, _ = minute(made)

    # The same: an entry is a process, whether or not its pid is known.
    expected = {
        **running({10: 1, 20: 1, 30: 1, 40: 1}, {0: 4}),
        **hbm(TRN1, 122 * MIB, 122 * MIB),
        "AchievedTflops": 0,
        **counts(4, 0, 4, 4),
    }
    assert_published(data, expected)


def test_one_pid_with_two_tags_is_two_runtimes_on_shared_cores() -> None:
    shared = [
        RuntimeSpec(7, "a", {0: 30.0}, {0: 9.2e12}, {0: GIB}, 5, p99=0.02),
        RuntimeSpec(7, "b", {0: 20.0, 1: 60.0}, {0: 4.6e12, 1: 46e12}, {0: 2 * GIB, 1: GIB}, 7, timed_out=2, p99=0.03),
    ]

    state, data, _ = minute(samples.report(shared, devices=1))

    assert state == "RUNNING"
    # Core 0: max(30, 20) %, (9.2 + 4.6) / 92 = 15 %. Core 1: 60 %, 46 / 92 = 50 %. 4 GiB and 3 x 1 MiB of code.
    expected = {
        **running({30: 1, 60: 1}, {15: 1, 50: 1}),
        **hbm(TRN1, 4 * GIB + 3 * MIB),
        "AchievedTflops": 59.8,
        **counts(12, 2, 2, 2),
    }
    assert_published(data, expected)


@pytest.mark.parametrize(
    ("keys", "others", "tensor", "tflops"),
    [
        (("effective_flops",), {}, {10: 1}, 9.2),
        (("flops",), {}, {10: 1}, 9.2),
        # Both, and they differ: the newer key is right.
        (("effective_flops",), {"flops": 46e12}, {10: 1}, 9.2),
        (("flops",), {"effective_flops": None}, {10: 1}, 9.2),
        ((), {}, {}, None),
    ],
)
def test_flop_keys(keys: Sequence[str], others: Json, tensor: Mapping[int, int], tflops: float | None) -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {0: 9.2e12}, {0: GIB}, 3, flop_keys=keys)], devices=1)
    cores = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    cores["0"].update(others)

    _, data, problems = minute(made)

    assert problems == ()
    # 9.2 of 92 TFLOP/s; without any key there is no datum, and no zero.
    expected = {**running({50: 1}, tensor), **hbm(TRN1, GIB + MIB), **counts(3, 0, 2, 1)}
    assert_published(data, expected if tflops is None else {**expected, "AchievedTflops": tflops})


def grouped(tensor: Mapping[int, int], total: int) -> Table:
    # Four cores of 1 GiB and 1 MiB, 4 x 31.6 TFLOP/s.
    return {
        **running({40: 1, 41: 1, 42: 1, 43: 1}, tensor),
        **hbm(TRN2, 4 * (GIB + MIB)),
        "AchievedTflops": 126.4,
        **counts(120, 0, total, 4),
    }


def test_two_physical_cores_in_a_logical_one_have_twice_the_peak() -> None:
    # 31.6 / (2 x 79) = 20 %.
    assert_published(minute(samples.grouped_cores())[1], grouped({20: 4}, 4))


def test_an_override_of_the_grouping_changes_peak_and_cores_alike() -> None:
    # 31.6 / 79 = 40 %, and the device's eight cores are eight.
    assert_published(minute(samples.grouped_cores(), lnc=1)[1], grouped({40: 4}, 8))


@pytest.mark.parametrize(
    ("dtype", "tensor"),
    # 19.75 of 79, 158 (12.5 rounds up) and 20 TFLOP/s.
    [("bf16", {25: 128}), ("fp8", {13: 128}), ("fp32", {99: 128})],
)
def test_128_cores_that_are_not_grouped(dtype: str, tensor: Mapping[int, int]) -> None:
    _, data, problems = minute(ungrouped(128), dtype=dtype)

    assert problems == ()
    # Eight cores of 1 GiB and 1 MiB a device; 128 x 19.75 = 2,528 TFLOP/s.
    expected = {
        **running({25: 128}, tensor),
        **hbm(TRN2, *[8 * (GIB + MIB)] * 16),
        "AchievedTflops": 2528,
        **counts(6, 0, 128, 128),
    }
    assert_published(data, expected)


def test_cores_beyond_a_wrong_override_are_left_out_and_named() -> None:
    _, data, problems = minute(ungrouped(128), lnc=2)

    # 64 logical cores at most; 19.75 / 158 is 12.5 %. The wrong layout puts cores 0-3 on device 0, and so on; half of
    # the cores is no sum for the node.
    assert problems == ("64 cores in use beyond the node's 64: is lnc set as the runtimes group cores?",)
    expected: dict[str, Any] = {
        **running({25: 64}, {13: 64}),
        **hbm(TRN2, *[4 * (GIB + MIB)] * 16),
        **counts(6, 0, 64, 64),
    }
    assert_published(data, expected)


def test_a_runtime_that_holds_no_core_is_no_job() -> None:
    state, data, problems = minute(samples.report([RuntimeSpec(9, "x")], devices=1))

    assert (state, problems) == ("NO_JOB", ())
    # It was looked at: no core is held, nothing was executed.
    assert_published(data, counts(0, 0, 2, 0))


def test_a_runtime_that_holds_no_core_beside_one_that_does() -> None:
    made = samples.report([RuntimeSpec(9, "x"), RuntimeSpec(1, "a", {1: 70.0}, {1: 23e12}, {1: GIB}, 3)], devices=1)

    # 23 / 92 = 25 %; the other lists both cores with 0, and means nothing by it.
    expected = {**running({70: 1}, {25: 1}), **hbm(TRN1, GIB + MIB), "AchievedTflops": 23, **counts(3, 0, 2, 1)}
    assert_published(minute(made)[1], expected)


def test_an_idle_node_and_its_first_record() -> None:
    state, data, problems = minute(samples.idle_first_record(), samples.report([]))

    assert (state, problems) == ("NO_JOB", ())
    # Error counters are in the second report only.
    assert_published(data, {"CoresTotal": 32, "CoresAllocated": 0, "HardwareErrors": 0})


def test_errors_of_both_summaries() -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 90, flop_keys=())], devices=1)
    stats = made["neuron_runtime_data"][0]["report"]["execution_stats"]
    stats["execution_summary"].update(completed_with_err=1, completed_with_num_err=2, incorrect_input=3)
    stats["error_summary"].update(numerical=2, transient=4)

    # 1 + 2 + 3 executions failed; the kinds, also of errors that failed nothing, are in the log event.
    expected = {**running({50: 1}, {}), **hbm(TRN1, GIB + MIB), **counts(90, 6, 2, 1)}
    assert_published(minute(made)[1], expected)
