"""Mistakes in scenario files and recordings are one line that names the file and the place."""

from pathlib import Path

import pytest

from local.replay.recording import as_scenario
from local.replay.run import OURS, PERIOD_SECONDS, SETS, replay
from local.replay.scenario import load
from local.scenario_file import ScenarioFileError
from local.simulation.report import ReportBuilder
from tests.unit.local.simulation.scripts import START, script

GOOD = """
name: x
title: x
minutes: 60
fleets: {a: {instance_type: trn1.2xlarge, nodes: 2, jobs: [{id: j, phases: [{at: 0, kind: startup}]}]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "minutes: 60",
            "minutes: 60\nincidents: [{fleet: b, kind: idle, alarms: [X], at: 1, by: 2}]",
            "no fleet is called b",
        ),
        ("minutes: 60", "minutes: 60\nincidents: [{fleet: a, kind: idle, alarms: [X], at: 9, by: 2}]", "9 < by"),
        ("{at: 0, kind", "{at: 3, kind", "starts at minute 0, not 3"),
        ("kind: startup", "kind: hardware_error", "phases.0.kind"),
        (
            "nodes: 2,",
            "nodes: 2, events: [{nodes: [2], at: 1, kind: node-gone}],",
            "has 2, counted from 0, so none is 2",
        ),
        ("title: x", "title: x: y", "not YAML"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(GOOD.replace(old, new))

    with pytest.raises(ScenarioFileError) as error:
        load(file)

    assert message in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_said_to_be() -> None:
    with pytest.raises(ScenarioFileError, match="No such file"):
        load(Path("nowhere.yaml"))


def test_recorded_lines_are_a_node_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(b"\n".join(_lines(9)))

    scenario = as_scenario(file, PERIOD_SECONDS)
    found = replay(scenario, {OURS: SETS[OURS]}, tmp_path)

    assert (scenario.minutes, scenario.fleets["recorded"].instance_type) == (3, "trn1.32xlarge")
    assert [dict(each.states) for each in found.timeline] == [{"RUNNING": 1}]


def test_a_recording_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text("hello\nworld\n")

    with pytest.raises(ScenarioFileError, match="no line in it is neuron-monitor output"):
        as_scenario(file, PERIOD_SECONDS)


def _lines(count: int) -> list[bytes]:
    builder = ReportBuilder(script())
    return [builder.line(START + 20 * index, 20.0007) for index in range(count)]
