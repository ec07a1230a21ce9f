"""Every recording: the figures are added up from the raw file, with the sums shown."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.main import app
from tests.support.needs import needs
from tests.unit.agents.truth.published import Table, assert_published

RECORDED = os.environ.get("NEURON_MONITOR_SAMPLES", "")
pytestmark = needs("recordings of neuron-monitor")

# Of a trn1 device, 32 GiB.
DEVICE = 34_359_738_368
# The two edited captures have uncorrected errors in memory of devices 6, 9, 14 and 15 and in SRAM of 7, 12 and 14.
EDITED_ERRORS = 4 + 3
ALL_32 = {"CoresTotal": 32, "CoresAllocated": 32, "HardwareErrors": EDITED_ERRORS}

TABLE: dict[str, tuple[str, Table]] = {
    # One runtime. Core 0: 25.0458 % busy, 0.346336403642 of 92 TFLOP/s = 0.3765 % -> 0. Core 1 has 1,743,360 bytes of
    # model code and 13,376 of runtime memory and no data: nobody holds it.
    # 6,402,048 + 102,616,000 + 110,656 + 65,536 + 1,743,360 + 13,376 = 110,950,976 bytes.
    "bindplane_inf2.xlarge_under_load.json": (
        "RUNNING",
        {
            "NeuronCoreUtilization": {25: 1},
            "NeuronCoreUtilizationWhenRunning": {25: 1},
            "TensorEngineUtilization": {0: 1},
            "TensorEngineUtilizationWhenRunning": {0: 1},
            "AchievedTflops": 0.346336403642,
            "HbmUsedPercent": (1, *[100 * 110_950_976 / DEVICE] * 3),
            "ExecutionsCompleted": 34_408,
            "ExecutionErrors": 0,
            "CoresTotal": 2,
            "CoresAllocated": 1,
            "HardwareErrors": 0,
        },
    ),
    # 32 processes; upstream set core n of the one that has it to n %. Both FLOP keys are there and 0 everywhere.
    # Of the 32 x 2 entries of memory, by device: the least 19,066,650,390, the most 19,083,660,182, all together
    # 305,202,033,504. No execution in any of the 32, so a known zero, and no latency.
    "cwagent-test_trn1n.32xlarge_32procs.json": (
        "FAULT",
        {
            "NeuronCoreUtilization": dict.fromkeys(range(32), 1),
            "TensorEngineUtilization": {0: 32},
            "AchievedTflops": 0,
            "HbmUsedPercent": (16, 888.2548238150775, 55.491256032837555, 55.540761043084785),
            "ExecutionsCompleted": 0,
            "ExecutionErrors": 0,
            **ALL_32,
        },
    ),
    # One pid with the tags 367 and 123, both with 100,752,896 + 9,912,852 bytes on each of 32 cores. By device
    # 2 x 2 x 110,665,748 = 442,662,992, by node 16 x that. Busy: 41.4 % on core 6 in one runtime, else 0.
    # 2 + 2 executions; no FLOP keys, no latency; the device's size is the catalogue's.
    "cwagent-test_trn1n.32xlarge_1proc_2024.json": (
        "FAULT",
        {
            "NeuronCoreUtilization": {0: 31, 41: 1},
            "HbmUsedPercent": (16, 1600 * 442_662_992 / DEVICE, *[100 * 442_662_992 / DEVICE] * 2),
            "ExecutionsCompleted": 4,
            "ExecutionErrors": 0,
            **ALL_32,
        },
    ),
    # Three reports of one second: core 0 is 1.363, 1.356 and 1.313 % busy, core 1 has 32,768 bytes of code only.
    # The highest memory of the three is 196,608 + 101,125,344 + 943,608 + 32,768 = 102,298,328 bytes. 3 x 260
    # executions, the worst p99 is the first one's; ``generic`` (23,654 and more) is not read. No FLOP keys.
    "wandb_trn1.2xlarge_consecutive.jsonl": (
        "RUNNING",
        {
            "NeuronCoreUtilization": {1: 3},
            "NeuronCoreUtilizationWhenRunning": {1: 3},
            "HbmUsedPercent": (1, *[100 * 102_298_328 / DEVICE] * 3),
            "ExecutionsCompleted": 780,
            "ExecutionErrors": 0,
            "CoresTotal": 2,
            "CoresAllocated": 1,
            "HardwareErrors": 0,
        },
    ),
    # Nothing runs, and only the host's memory was due: error counters were not read, so no zero of them either.
    "all-smi_trn1.2xlarge_idle_first_record.ndjson": ("NO_JOB", {"CoresTotal": 2, "CoresAllocated": 0}),
    # Core 0 is the first process's (89.40 %, 32.875590474948 of 92 = 35.73 %), core 1 the second's, which idles; the
    # other one has code there and no data. 4,939,737,148 + 141,649,980 = 5,081,387,128 bytes. 120 + 0 executions.
    "CONSTRUCTED_trn1.2xlarge_two_processes.json": (
        "RUNNING",
        {
            "NeuronCoreUtilization": {0: 1, 89: 1},
            "NeuronCoreUtilizationWhenRunning": {0: 1, 89: 1},
            "TensorEngineUtilization": {0: 1, 36: 1},
            "TensorEngineUtilizationWhenRunning": {0: 1, 36: 1},
            "AchievedTflops": 32.875590474948,
            "HbmUsedPercent": (1, *[100 * 5_081_387_128 / DEVICE] * 3),
            "ExecutionsCompleted": 120,
            "ExecutionErrors": 0,
            "CoresTotal": 2,
            "CoresAllocated": 2,
            "HardwareErrors": 0,
        },
    ),
    # Four logical cores of two physical ones, peak 2 x 79 TFLOP/s: 1.2346 of 158 is 0.78 % -> 1. The sum of the four
    # is 4,938,271,564,104. 4 x (193,986,816 + 176,285,056 + 20,971,520) = 1,564,973,568 of 96 GiB.
    "CONSTRUCTED_trn2.3xlarge_LNC2_doc_shape.json": (
        "RUNNING",
        {
            "NeuronCoreUtilization": {42: 1, 43: 1, 44: 1, 45: 1},
            "NeuronCoreUtilizationWhenRunning": {42: 1, 43: 1, 44: 1, 45: 1},
            "TensorEngineUtilization": {1: 4},
            "TensorEngineUtilizationWhenRunning": {1: 4},
            "AchievedTflops": 4.938271564104,
            "HbmUsedPercent": (1, *[100 * 1_564_973_568 / 103_079_215_104] * 3),
            "ExecutionsCompleted": 120,
            "ExecutionErrors": 0,
            "CoresTotal": 4,
            "CoresAllocated": 4,
            "HardwareErrors": 0,
        },
    ),
    # The driver's error in the first line; null counters in both runtimes of the second, and null error counters.
    # 120 executions were counted there, but of a node whose cores nobody sees nothing is said.
    "CONSTRUCTED_degraded_nulls.jsonl": ("BLIND", {"CoresTotal": 2}),
}
REFUSED = ("README.md", "all-smi_trn1.2xlarge_neuron-ls.json", "datadog_inf1.xlarge_prometheus_excerpt.txt")


def inspected(name: str, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["inspect", str(Path(RECORDED) / name), "--json", *options])
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_publishes_what_its_raw_figures_come_to(name: str) -> None:
    state, table = TABLE[name]

    answer = inspected(name)

    assert [each["state"] for each in answer["states"]] == [state]
    assert_published(answer["metric_data"], table)
    is_damaged = name == "CONSTRUCTED_degraded_nulls.jsonl"
    assert bool(answer["problems"]) == is_damaged, answer["problems"]


def test_a_recording_of_a_few_milliseconds_has_no_rates_where_reports_are_five_seconds_apart() -> None:
    answer = inspected("cwagent-test_trn1n.32xlarge_32procs.json", "--period", "5")

    # Its periods are 5 to 14 ms: memory and error counters are as they were, rates and counts are not.
    rates = {"NeuronCoreUtilization", "TensorEngineUtilization", "AchievedTflops"} | {
        "ExecutionsCompleted",
        "ExecutionErrors",
    }
    table = TABLE["cwagent-test_trn1n.32xlarge_32procs.json"][1]
    assert_published(answer["metric_data"], {name: value for name, value in table.items() if name not in rates})


def test_every_recording_is_in_the_table_or_refused() -> None:
    assert {path.name for path in Path(RECORDED).iterdir()} == {*TABLE, *REFUSED}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_recording_of_neuron_monitor_publishes_nothing(name: str) -> None:
    assert inspected(name)["metric_data"] == []
