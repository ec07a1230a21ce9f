"""`fleet replay` with late data: what the options say is what is replayed, and all of it beside each other."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from cli.main import app
from cli.replay import late
from local.replay.delivery import SWEEP, Late

SCENARIO = """
name: short
title: A device of a small node fails
minutes: 10
fleets:
  tune:
    instance_type: trn1.2xlarge
    nodes: 1
    jobs: [{id: tuned, phases: [{at: 0, kind: startup}, {at: 1, kind: running}]}]
    events: [{nodes: [0], at: 3, kind: memory-error}]
incidents: [{fleet: tune, kind: hardware, alarms: [HardwareFault], at: 3, by: 5}]
"""


def replay(folder: Path, *words: str) -> Result:
    file = folder / "short.yaml"
    file.write_text(SCENARIO)
    return CliRunner().invoke(app, ["replay", str(file), *words])


def minutes(answer: Result) -> float | None:
    found: float | None = json.loads(answer.stdout)["sets"]["neuron-fleet"]["page"]["median_minutes"]
    return found


def test_a_page_comes_as_much_later_as_its_data(tmp_path: Path) -> None:
    at_once, late_by_two = (replay(tmp_path, "--json", *words) for words in ((), ("--delay", "2")))

    assert (at_once.exit_code, late_by_two.exit_code) == (0, 0)
    assert (minutes(late_by_two) or 0) - (minutes(at_once) or 0) == 2


def test_options_make_one_delivery() -> None:
    asked = late.delivery(2, 3, partial=True)

    assert (asked.delay_seconds, asked.late, asked.skew_minutes) == ((120, 120), Late.AFFECTED, 3)
    # Two of the delay, one look, three of the clocks.
    assert asked.allowed_minutes == 6


def test_all_deliveries_stand_beside_each_other(tmp_path: Path) -> None:
    figures: dict[str, Any] = json.loads(replay(tmp_path, "--delays", "--json").stdout)
    table = replay(tmp_path, "--delays").stdout

    assert list(figures) == [delivery.name for delivery in SWEEP]
    assert {each["page"]["recall"] for each in figures.values()} == {1.0}
    assert "5 min late" in table


def test_a_delay_that_nobody_has_is_refused(tmp_path: Path) -> None:
    assert replay(tmp_path, "--delay", "16").exit_code == 2
