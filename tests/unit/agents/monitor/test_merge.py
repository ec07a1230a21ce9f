"""Merging runtimes: the figures are worked out by hand from the samples' shapes."""

from collections.abc import Callable

import pytest

from agents.errors import UnreadableLineError
from agents.monitor.decode.parse import parse
from agents.monitor.layout import layout_of
from agents.monitor.merge import merge
from agents.monitor.node_sample import NodeSample
from tests.support import samples
from tests.support.samples import GIB, MIB, Json, RuntimeSpec


def collect(made: Json, period: float = 5) -> NodeSample:
    report = parse(samples.line(made))
    return merge(report, layout_of(report.hardware, report.instance_type, "bf16", None), period)


def test_each_core_has_its_own_runtimes_figure_and_not_a_mean_over_runtimes() -> None:
    made = collect(samples.full_node(busy=50.0))

    # 31 of 32 runtimes list 0 for a core; the mean would be 50 / 32 = 1.6.
    assert made.utilization == dict.fromkeys(range(32), 50.0)
    assert made.allocated == frozenset(range(32))


def test_flops_and_bytes_are_sums_over_runtimes() -> None:
    shared = [
        RuntimeSpec(1, "a", {0: 30.0}, {0: 10e12}, {0: 2 * GIB}),
        RuntimeSpec(2, "b", {0: 20.0}, {0: 5e12}, {0: 1 * GIB}),
    ]

    made = collect(samples.report(shared, devices=1))

    assert made.flops == {0: 15e12}
    assert made.utilization == {0: 30.0}
    assert made.core_bytes == {0: 3 * GIB + 2 * MIB}
    assert made.device_bytes == {0: 3 * GIB + 2 * MIB}


def test_runtimes_with_the_same_tag_are_told_apart_by_their_pid() -> None:
    made = collect(samples.colliding_tags())

    assert made.utilization == {0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0}
    # Two cores on each of two devices, 60 MiB and 1 MiB of code each.
    assert made.device_bytes == {0: 122 * MIB, 1: 122 * MIB}
    assert len(made.runtimes) == 4


def test_a_core_with_nothing_but_the_runtimes_own_code_is_not_allocated() -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 30.0}, {}, {0: GIB, 1: 0})], devices=1)

    assert collect(made).allocated == frozenset({0})


def test_an_idle_core_that_holds_tensors_is_allocated_and_zero() -> None:
    made = collect(samples.report([RuntimeSpec(1, "a", {}, {}, {1: GIB})], devices=1))

    assert made.utilization == {1: 0.0}


def test_a_core_whose_holder_was_not_measured_has_no_figure() -> None:
    made = samples.report(
        [RuntimeSpec(1, "a", {0: 30.0}, {}, {0: GIB}), RuntimeSpec(2, "b", {1: 60.0}, {}, {1: GIB})], devices=1
    )
    made["neuron_runtime_data"][1]["report"]["neuroncore_counters"]["error"] = "cannot open the device"

    collected = collect(made)

    # Runtime a lists core 1 with 0, but core 1 is b's.
    assert collected.utilization == {0: 30.0}
    assert collected.allocated == frozenset({0, 1})


def test_a_shared_core_has_no_figure_while_one_of_its_holders_was_not_measured() -> None:
    made = samples.report(
        [RuntimeSpec(1, "a", {0: 30.0}, {0: 1e12}, {0: GIB}), RuntimeSpec(2, "b", {0: 60.0}, {0: 2e12}, {0: GIB})],
        devices=1,
    )
    made["neuron_runtime_data"][1]["report"]["neuroncore_counters"] = None

    collected = collect(made)

    assert (collected.utilization, collected.flops, collected.allocated) == ({}, {}, frozenset({0}))


def test_memory_is_absent_when_one_runtime_was_not_measured() -> None:
    made = samples.report([RuntimeSpec(1, "a", tensors={0: GIB}), RuntimeSpec(2, "b", tensors={1: GIB})], devices=1)
    made["neuron_runtime_data"][1]["report"]["memory_used"] = None

    assert collect(made).device_bytes is None


@pytest.mark.parametrize(
    ("keys", "expected"), [(("effective_flops",), 9e12), (("flops",), 9e12), (("flops", "effective_flops"), 9e12)]
)
def test_either_flop_key_is_read(keys: tuple[str, ...], expected: float) -> None:
    spec = RuntimeSpec(1, "a", {0: 50.0}, {0: 9e12}, {0: GIB}, flop_keys=keys)

    assert collect(samples.report([spec], devices=1)).flops == {0: expected}


def test_effective_flops_wins_over_flops() -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {0: 9e12}, {0: GIB})], devices=1)
    made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]["0"]["flops"] = 1

    assert collect(made).flops == {0: 9e12}


def test_flops_are_absent_when_the_tool_reports_none() -> None:
    spec = RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, flop_keys=())

    assert collect(samples.report([spec], devices=1)).flops == {}


def test_rates_of_a_report_shorter_than_half_a_period_are_discarded_and_memory_is_kept() -> None:
    spec = RuntimeSpec(1, "a", {0: 50.0}, {0: 1e12}, {0: GIB}, completed=3, p99=0.1)

    made = collect(samples.report([spec], devices=1, seconds=0.0005))

    assert (made.utilization, made.flops, made.completed, made.latency_p99) == ({}, {}, None, None)
    assert made.device_bytes == {0: GIB + MIB}
    assert made.blind is None


def test_grouped_cores_keep_the_logical_figure_and_fall_back_to_the_physical_mean() -> None:
    made = samples.grouped_cores()
    cores = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    del cores["3"]["neuroncore_utilization"]

    # (20 + 60) / 2 = 40 for the core whose own figure is gone.
    assert collect(made).utilization == {0: 40.0, 1: 41.0, 2: 42.0, 3: 40.0}


@pytest.mark.parametrize("shape", [{}, [], {"nc_v3.0": {}}, {"nc_v3.0": None}, "odd", 3])
def test_an_unknown_shape_of_physical_cores_is_no_figure(shape: object) -> None:
    made = samples.grouped_cores()
    cores = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    cores["0"] = {"v3d": shape}

    assert 0 not in collect(made).utilization


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (samples.no_driver, "driver is missing or not running: driver not loaded"),
        (samples.no_devices, "no Neuron device is visible"),
        (samples.null_sections, "no runtime's core counters could be read"),
    ],
)
def test_each_kind_of_blindness_has_its_own_reason(made: Callable[[], Json], reason: str) -> None:
    collected = collect(made())

    assert collected.blind is not None
    assert reason in collected.blind
    assert not collected.utilization


def test_null_sections_give_no_figures() -> None:
    made = collect(samples.null_sections())

    assert made.core_bytes is None
    assert made.latency_p99 is None
    assert made.failed is None
    assert made.completed == 120


def test_a_zero_of_one_runtime_is_not_the_nodes_while_another_was_not_measured() -> None:
    made = samples.report([RuntimeSpec(1, "a"), RuntimeSpec(2, "b", completed=4)], devices=1)
    made["neuron_runtime_data"][1]["report"]["execution_stats"]["error"] = "failed"

    assert collect(made).completed is None


def test_the_generic_error_count_of_old_tools_is_ignored() -> None:
    made = collect(samples.report([RuntimeSpec(1, "a", timed_out=2, completed=5)], devices=1))

    assert (made.errors, made.failed) == ({}, 2)


@pytest.mark.parametrize(
    "data",
    [
        samples.line(samples.full_node())[:1000],
        b"goroutine 1 [running]:",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"unrelated": 1}',
    ],
)
def test_what_is_not_a_report_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableLineError, match="not a neuron-monitor report"):
        parse(data)
