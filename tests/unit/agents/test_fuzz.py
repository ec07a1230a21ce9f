"""Damaged lines through the whole pipeline: the same as ``python -m bench.fuzz``, bounded for every test run."""

import json
import logging

import pytest

from agents.collectors.collector import Contribution
from agents.errors import UnreadableLineError
from agents.minute.batch import SelfFigures
from agents.minute.event_size import MOST_BYTES, bounded
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from agents.monitor.decode.parse import parse
from bench import fuzz
from tests.support import agents, samples
from tests.support.samples import GIB, RuntimeSpec

# Allocators keep what they once had: a leak of ten bytes a line would show.
MOST_GROWTH = 8 * 1024**2


@pytest.mark.parametrize("lines", [4_000, pytest.param(20_000, marks=pytest.mark.soak)])
def test_damaged_lines_crash_nothing_publish_no_nonsense_and_leave_nothing_behind(
    caplog: pytest.LogCaptureFixture, lines: int
) -> None:
    caplog.set_level(logging.CRITICAL)

    outcome = fuzz.run(lines, seed=7)

    assert outcome.crashes == ()
    assert outcome.lines == lines
    assert outcome.minutes == lines // fuzz.REPORTS_A_MINUTE
    assert outcome.growth < MOST_GROWTH
    # Otherwise it would only test that damaged lines are refused.
    assert 0.2 * lines < outcome.unreadable < 0.8 * lines


def test_more_runtimes_than_a_node_can_hold_are_no_report() -> None:
    made = samples.report([])
    made["neuron_runtime_data"] = [{"pid": pid} for pid in range(1, 100_001)]

    with pytest.raises(UnreadableLineError, match="100000 runtimes are more than a node can hold"):
        parse(samples.line(made))


def test_an_impossible_core_index_is_left_out_and_named() -> None:
    made = samples.report([RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 5)], devices=1)
    cores = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    cores["1000000000"] = {"neuroncore_utilization": 99.0}

    entry = agents.one_minute(made)

    assert log_event(entry)["cores"]["utilization"] == [50.0, None]
    assert "core index 1000000000 cannot be; left out" in entry.problems


def test_an_impossible_number_of_devices_makes_no_array() -> None:
    made = samples.full_node()
    made["neuron_hardware_info"]["neuron_device_count"] = 10**9

    entry = agents.one_minute(made)

    # The catalogue knows the instance type: 16 devices of 2 cores.
    assert len(log_event(entry)["cores"]["utilization"]) == 32
    assert "device count 1000000000.0 cannot be; left out" in entry.problems


def test_an_error_text_without_end_is_cut() -> None:
    made = samples.no_driver()
    made["neuron_hardware_info"]["error"] = "x" * 1_000_000

    assert len(json.dumps(log_event(agents.one_minute(made)))) < 2_000


def test_nesting_without_end_is_no_report() -> None:
    made = samples.line(samples.grouped_cores()).replace(b'"v3d":{', b'"v3d":' + b'{"a":' * 100_000 + b"{", 1)

    with pytest.raises(UnreadableLineError):
        parse(made)


def test_a_flood_of_reports_is_not_kept() -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)
    line = samples.line(samples.report([RuntimeSpec(1, "a", {0: 50.0}, {}, {0: GIB}, 5)], devices=1))
    for _ in range(300):
        pipeline.line(line, agents.MINUTE)

    entry = pipeline.close(agents.MINUTE, agents.MINUTE + 60, 1, Surroundings(), SelfFigures())

    assert entry.figures.completed == 240 * 5
    assert "more than 240 reports in a minute; the rest is not counted" in entry.problems


def test_an_event_that_is_too_large_loses_its_largest_properties_and_says_so() -> None:
    contribution = Contribution(event={"host": {"disk": "x" * 300_000}, "efa": {"devices": 8}})

    event = log_event(agents.one_minute(samples.full_node(), around=Surroundings(contribution)))

    # {"disk":"xxx"} is 300,011 bytes.
    assert event["cut"] == {"host": 300_011}
    assert event["efa"] == {"devices": 8}
    assert event["state"] == "RUNNING"
    assert len(json.dumps(event)) < MOST_BYTES


def test_an_event_of_a_million_properties_is_cut_and_the_list_of_what_was_cut_is_too() -> None:
    event = bounded({"schema": 1, **{f"property {number}": number for number in range(100_000)}})

    assert event["schema"] == 1
    assert len(event["cut"]) == 20
    assert len(json.dumps(event)) < MOST_BYTES


def test_numbers_that_json_cannot_hold_are_null() -> None:
    event = bounded({"schema": 1, "list": [1.5, float("nan"), {"deep": float("-inf")}], "long": 10**5000})

    assert event == {"schema": 1, "list": [1.5, None, {"deep": None}], "long": None}
