"""The simulated reports have the shape of real captures and the figures of the script."""

import json
from typing import Any

import pytest

from local.simulation.host_report import UnknownReportError
from local.simulation.report import ReportBuilder
from local.simulation.script import PhaseKind, Script
from tests.unit.local.simulation.scripts import START, phase, script


def report(node: Script, now: float = START, period: float = 20.0) -> dict[str, Any]:
    line = ReportBuilder(node).line(now, period)
    assert b"\n" not in line
    decoded: dict[str, Any] = json.loads(line)
    return decoded


def cores_of(runtime: dict[str, Any]) -> dict[str, Any]:
    cores: dict[str, Any] = runtime["report"]["neuroncore_counters"]["neuroncores_in_use"]
    return cores


def test_every_runtime_lists_every_core_and_only_its_own_are_busy() -> None:
    runtimes = report(script())["neuron_runtime_data"]

    assert len(runtimes) == 4
    for index, runtime in enumerate(runtimes):
        cores = cores_of(runtime)
        busy = [int(core) for core, counters in cores.items() if counters["neuroncore_utilization"] > 0]
        assert list(cores) == [str(core) for core in range(32)]
        assert busy == list(range(index * 8, index * 8 + 8))


def test_flops_are_the_scripted_share_of_the_tensor_engine_peak() -> None:
    cores = cores_of(report(script())["neuron_runtime_data"][0])

    # 42 % of 92 TFLOP/s, give or take the noise.
    assert cores["0"]["effective_flops"] == pytest.approx(0.42 * 92e12, rel=0.06)


def test_a_chip_whose_reports_nobody_has_seen_is_not_simulated() -> None:
    with pytest.raises(UnknownReportError, match=r"instances\.json states no accelerators\.Inferentia\.monitor"):
        report(script(instance_type="inf1.24xlarge"))


def test_trainium2_shows_logical_cores_with_their_physical_halves() -> None:
    shown = report(script(instance_type="trn2.48xlarge", lnc=2))
    cores = cores_of(shown["neuron_runtime_data"][3])

    assert len(cores) == 64
    assert set(cores["63"]["v3d"]) == {"nc_v3.126", "nc_v3.127"}
    # 42 % of two cores of 79 TFLOP/s.
    assert cores["63"]["effective_flops"] == pytest.approx(0.42 * 158e12, rel=0.06)
    assert shown["neuron_hardware_info"] == {
        "neuron_device_type": "trainium2",
        "neuron_device_version": "v4",
        "neuroncore_version": "v3d",
        "neuron_device_count": 16,
        "neuron_device_memory_size": 96 * 1024**3,
        "neuroncore_per_device_count": 4,
        "logical_neuroncore_config": 2,
        "error": "",
    }


def test_inferentia_has_twenty_four_cores_on_twelve_devices() -> None:
    shown = report(script(instance_type="inf2.48xlarge", runtimes=2))

    assert len(cores_of(shown["neuron_runtime_data"][0])) == 24
    assert len(shown["system_data"]["neuron_hw_counters"]["neuron_devices"]) == 12


def test_device_memory_is_the_sum_over_cores_and_categories_and_fits_the_device() -> None:
    used = [
        runtime["report"]["memory_used"]["neuron_runtime_used_bytes"]
        for runtime in report(script())["neuron_runtime_data"]
    ]

    for one in used:
        cores = one["usage_breakdown"]["neuroncore_memory_usage"]
        assert one["neuron_device"] == sum(sum(core.values()) for core in cores.values())
        assert one["host"] == sum(one["usage_breakdown"]["host"].values())
    assert 0.6 < sum(one["neuron_device"] for one in used) / (512 * 1024**3) < 0.8


@pytest.mark.parametrize("kind", [PhaseKind.STARTUP, PhaseKind.COMPILING, PhaseKind.IDLE, PhaseKind.CHECKPOINT])
def test_nothing_executes_outside_the_executing_phases(kind: PhaseKind) -> None:
    for runtime in report(script(phase(kind)))["neuron_runtime_data"]:
        stats = runtime["report"]["execution_stats"]
        assert stats["execution_summary"]["completed"] == 0
        assert stats["latency_stats"]["device_latency"] is None
        assert all(core["neuroncore_utilization"] == 0 for core in cores_of(runtime).values())


def test_a_node_without_a_job_has_no_runtime() -> None:
    assert report(script(phase(PhaseKind.NO_JOB)))["neuron_runtime_data"] == []


def test_a_hardware_error_is_an_uncorrected_error_of_the_scripted_device() -> None:
    devices = report(script(phase(PhaseKind.HARDWARE_ERROR)))["system_data"]["neuron_hw_counters"]["neuron_devices"]

    assert [device["neuron_device_index"] for device in devices if device["mem_ecc_uncorrected"]] == [5]


def test_the_same_moment_reads_the_same_and_another_one_differs() -> None:
    assert report(script()) == report(script())
    assert report(script(), START + 20) != report(script())
