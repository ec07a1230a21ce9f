"""``fleet-agent inspect`` on samples made here and, when a folder of recordings is named, on every file in it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.main import app
from tests.support import samples
from tests.support.needs import needs
from tests.support.samples import GIB, MIB, Json, RuntimeSpec

RECORDED = os.environ.get("NEURON_MONITOR_SAMPLES", "")
recorded = needs("recordings of neuron-monitor")
WORK = ("Utilization", "Hbm", "Tflops", "Execution", "CoresAllocated")


def inspect(path: Path, *options: str) -> tuple[Json, int]:
    """The command's JSON and its exit code."""
    result = CliRunner().invoke(app, ["inspect", str(path), "--json", "--start", "2026-11-21T03:00:00", *options])
    answer: Json = json.loads(result.stdout)
    assert set(answer) == {"metric_data", "log_events", "states", "problems"}
    return answer, result.exit_code


def write(path: Path, *reports: Json) -> Path:
    path.write_bytes(b"".join(samples.line(made) for made in reports))
    return path


def datum(answer: Json, name: str, sets: int = 2) -> dict[str, Any]:
    found = [made for made in answer["metric_data"] if made["MetricName"] == name and len(made["Dimensions"]) == sets]
    return found[0] if found else {}


def test_lines_are_one_period_apart(tmp_path: Path) -> None:
    answer, code = inspect(write(tmp_path / "many.jsonl", *[samples.full_node()] * 13))

    assert code == 0
    # Reports of 5 s: twelve in the first minute, the thirteenth in the second.
    assert [state["minute"] for state in answer["states"]] == ["2026-11-21T03:00:00Z", "2026-11-21T03:01:00Z"]
    assert datum(answer, "NeuronCoreUtilization")["Counts"] == [12 * 32.0]


def test_a_pretty_printed_object_is_one_report(tmp_path: Path) -> None:
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(samples.grouped_cores(), indent=2))

    answer, code = inspect(path)

    assert code == 0
    # 31.6 of 2 x 79 TFLOP/s on each of four logical cores.
    assert datum(answer, "TensorEngineUtilization") | {"Values": [20.0], "Counts": [4.0]} == datum(
        answer, "TensorEngineUtilization"
    )


def test_a_first_report_of_half_a_millisecond_gives_no_rates(tmp_path: Path) -> None:
    spec = RuntimeSpec(1, "a", {0: 99.0}, {0: 9e12}, {0: GIB}, 5)
    first, later = samples.report([spec], seconds=0.0005), samples.report([spec])

    answer, _ = inspect(write(tmp_path / "first.jsonl", first, later))

    assert datum(answer, "NeuronCoreUtilization")["Counts"] == [1.0]
    assert datum(answer, "ExecutionsCompleted")["Value"] == 5


def test_a_line_cut_short_costs_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "cut.jsonl", samples.full_node())
    path.write_bytes(path.read_bytes() + samples.line(samples.full_node())[:500])

    answer, code = inspect(path)

    assert code == 0
    assert any(problem.startswith("line 2: not a neuron-monitor report") for problem in answer["problems"])
    assert datum(answer, "NeuronCoreUtilization")["Counts"] == [32.0]


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ('[{"neuron_device":0,"nc_count":2}]', "device list of neuron-ls"),
        ("# TYPE neuroncore_utilization_ratio gauge\n", "Prometheus text"),
        ("", "nothing in it is neuron-monitor output"),
        ("{}", "nothing in it is neuron-monitor output"),
    ],
)
def test_what_is_not_neuron_monitor_output_is_named_and_fails(tmp_path: Path, content: str, hint: str) -> None:
    path = tmp_path / "other"
    path.write_text(content)

    answer, code = inspect(path)

    assert code == 1
    assert any(hint in problem for problem in answer["problems"])
    assert not answer["metric_data"]


def test_without_json_it_speaks_plainly(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["inspect", str(write(tmp_path / "one.jsonl", samples.full_node()))])

    assert "RUNNING: 320 executions completed" in result.stdout


def test_the_instance_type_can_be_given_where_the_recording_does_not_name_it(tmp_path: Path) -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 9.0}, {0: 9.2e12}, {0: 8 * GIB - MIB}, 5)], instance_type="")
    made["neuron_hardware_info"] = {"neuron_device_count": 16, "neuroncore_per_device_count": 2, "error": ""}

    bare, _ = inspect(write(tmp_path / "bare.jsonl", made))
    told, _ = inspect(tmp_path / "bare.jsonl", "--instance-type", "trn1.32xlarge")

    assert not datum(bare, "HbmUsedPercent")
    assert any("no tensor-engine peak" in problem for problem in bare["problems"])
    assert datum(told, "HbmUsedPercent")["StatisticValues"]["Maximum"] == 25.0
    assert datum(told, "TensorEngineUtilization")["Values"] == [10.0]


@recorded
def test_every_recording_is_answered() -> None:
    for path in sorted(Path(RECORDED).iterdir()):
        is_other = path.suffix in {".txt", ".md"} or path.name.endswith("neuron-ls.json")

        answer, code = inspect(path)

        assert code == int(is_other), path.name
        assert bool(answer["metric_data"]) != is_other, path.name


@recorded
def test_recorded_32_processes_have_each_core_its_own_figure() -> None:
    path = Path(RECORDED) / "cwagent-test_trn1n.32xlarge_32procs.json"
    raw = json.loads(path.read_bytes())
    answer, _ = inspect(path)

    event = answer["log_events"][0]
    # Edited upstream so that core n is n % busy in the one runtime that has it.
    assert event["cores"]["utilization"] == [float(core) for core in range(32)]
    assert datum(answer, "NeuronCoreUtilization")["Counts"] == [1.0] * 32
    used = sum(
        runtime["report"]["memory_used"]["neuron_runtime_used_bytes"]["neuron_device"]
        for runtime in raw["neuron_runtime_data"]
    )
    assert datum(answer, "HbmUsedBytes", 3)["StatisticValues"]["Sum"] == used
    # Uncorrected: memory of devices 6, 9, 14 and 15, SRAM of 7, 12 and 14.
    assert datum(answer, "HardwareErrors")["Value"] == 7


@recorded
def test_recorded_null_sections_have_no_figure_at_all() -> None:
    answer, _ = inspect(Path(RECORDED) / "CONSTRUCTED_degraded_nulls.jsonl")

    assert answer["states"][0]["state"] == "BLIND"
    assert any("driver" in problem for problem in answer["problems"])
    assert not [made for made in answer["metric_data"] if any(part in made["MetricName"] for part in WORK)]


@recorded
@pytest.mark.parametrize(
    ("name", "utilization", "tensor", "hbm", "completed"),
    [
        # 25.05 % busy at 0.346 of 92 TFLOP/s; core 1 holds only the runtime's own code.
        ("bindplane_inf2.xlarge_under_load.json", ([25.0], [1.0]), ([0.0], [1.0]), 110950976, 34408),
        # Core 0 is the first runtime's, 32.88 of 92 TFLOP/s; core 1 the second's, idle.
        (
            "CONSTRUCTED_trn1.2xlarge_two_processes.json",
            ([0.0, 89.0], [1.0, 1.0]),
            ([0.0, 36.0], [1.0, 1.0]),
            None,
            120,
        ),
        # 1.23 of 2 x 79 TFLOP/s is 0.78 %.
        (
            "CONSTRUCTED_trn2.3xlarge_LNC2_doc_shape.json",
            ([42.0, 43.0, 44.0, 45.0], [1.0] * 4),
            ([1.0], [4.0]),
            1564973568,
            120,
        ),
    ],
)
def test_recorded_reports_have_the_figures_worked_out_by_hand(
    name: str, utilization: Any, tensor: Any, hbm: int | None, completed: int
) -> None:
    answer, _ = inspect(Path(RECORDED) / name)

    busy, engine = datum(answer, "NeuronCoreUtilization"), datum(answer, "TensorEngineUtilization")
    assert (busy["Values"], busy["Counts"]) == utilization
    assert (engine["Values"], engine["Counts"]) == tensor
    assert datum(answer, "ExecutionsCompleted")["Value"] == completed
    if hbm is not None:
        assert datum(answer, "HbmUsedBytes", 3)["StatisticValues"]["Sum"] == hbm


@recorded
def test_recorded_old_tools_have_no_tensor_utilization() -> None:
    for name in ("wandb_trn1.2xlarge_consecutive.jsonl", "cwagent-test_trn1n.32xlarge_1proc_2024.json"):
        answer, _ = inspect(Path(RECORDED) / name)

        assert not datum(answer, "TensorEngineUtilization")
        assert datum(answer, "NeuronCoreUtilization")
