"""A field of a type that nobody expects costs its own section: the rest of the report is as true as before."""

from typing import Any

import pytest

from agents.errors import UnreadableLineError
from agents.monitor.decode.parse import parse
from tests.support import samples
from tests.support.samples import GIB, Json
from tests.unit.agents.truth.published import assert_published, minute
from tests.unit.agents.truth.test_damage import EXECUTIONS, GOOD, MEMORY, USED, good, section, without


def problem(text: str) -> str:
    return f"{text} cannot be; left out"


def test_executions_of_an_odd_type_are_not_known() -> None:
    made = good()
    section(made, "execution_stats")["execution_summary"]["completed"] = "30"

    state, data, problems = minute(made)

    # Nothing was seen to complete, so the job may still be starting; cores and memory are known.
    assert state == "STARTUP"
    assert len(problems) == 1
    assert problems[0].startswith("execution_stats, of a shape not known: Expected `float | null`, got `str`")
    assert_published(data, without(*EXECUTIONS, *[name for name in GOOD if "WhenRunning" in name]))


def test_memory_of_an_odd_type_is_not_known() -> None:
    made = good()
    section(made, "memory_used")["neuron_runtime_used_bytes"] = []

    state, data, _ = minute(made)

    assert state == "RUNNING"
    assert_published(data, without(*MEMORY))


def test_core_counters_of_an_odd_type_make_the_node_blind() -> None:
    made = good()
    section(made, "neuroncore_counters")["neuroncores_in_use"]["0"]["neuroncore_utilization"] = "50"

    state, data, problems = minute(made)

    assert state == "BLIND"
    assert problems[0] == "no runtime's core counters could be read: neuroncore_counters is null"
    assert problems[1].startswith("neuroncore_counters, of a shape not known")
    assert_published(data, {"CoresTotal": 2, "HardwareErrors": 0})


@pytest.mark.parametrize(
    ("name", "value"),
    [("instance_info", "trn1"), ("instance_info", {"instance_type": 7}), ("pid", "x"), ("neuron_runtime_tag", [1])],
)
def test_names_of_an_odd_type_change_no_figure(name: str, value: Any) -> None:
    made = good()
    target = made if name == "instance_info" else made["neuron_runtime_data"][0]
    target[name] = value

    state, data, problems = minute(made)

    assert (state, len(problems)) == ("RUNNING", 1)
    assert_published(data, GOOD)


def test_error_counters_of_an_odd_type_are_not_known() -> None:
    made = good()
    made["system_data"]["neuron_hw_counters"]["neuron_devices"] = {"0": {}}

    assert_published(minute(made)[1], without("HardwareErrors"))


def test_hardware_of_an_odd_type_is_the_catalogues() -> None:
    made = good()
    made["neuron_hardware_info"]["neuron_device_memory_size"] = "32 GiB"

    # trn1.32xlarge: 16 devices of two cores and 32 GiB, on 15 of which nobody has memory.
    share = 100 * USED / (32 * GIB)
    expected = without(HbmUsedPercent=(16, share, 0, share), CoresTotal=32)
    assert_published(minute(made)[1], expected)


def test_a_runtime_that_is_no_object_is_one_that_could_not_be_read() -> None:
    made = good()
    made["neuron_runtime_data"].append(7)

    state, data, problems = minute(made)

    assert state == "RUNNING"
    assert problems == (
        problem("runtime int"),
        "core counters of 1 of 2 runtimes could not be read: it is no object",
    )
    # What it holds is not known: no memory, no sum of FLOP/s; 30 executions at least.
    assert_published(data, without(*MEMORY, "AchievedTflops", "ExecutionErrors"))


@pytest.mark.parametrize("error", [{"code": 5}, ["gone"], 5, True])
def test_an_error_that_is_no_text_is_an_error(error: Any) -> None:
    made = good()
    made["neuron_runtime_data"][0]["error"] = error

    state, _, problems = minute(made)

    assert state == "BLIND"
    assert problems == ("no runtime's core counters could be read: an error that is no text",)


@pytest.mark.parametrize("value", ["many", 5, {"0": {}}])
def test_a_list_of_runtimes_that_is_none_says_nothing_of_them(value: Any) -> None:
    made: Json = good()
    made["neuron_runtime_data"] = value

    assert parse(samples.line(made)).runtimes is None


@pytest.mark.parametrize("line", [b"[]", b'"text"', b"5", b"null", b'{"neuron_runtime_data": NaN}'])
def test_what_is_no_object_is_no_report(line: bytes) -> None:
    with pytest.raises(UnreadableLineError):
        parse(line)
