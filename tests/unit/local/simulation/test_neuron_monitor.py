"""The stand-in behaves as the real program does on a command line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.simulation.monitor_link import SOCKET_VARIABLE, Command, MonitorDoor, MonitorLink
from local.simulation.neuron_monitor import period_of
from local.simulation.script import PhaseKind, Script
from tests.unit.local.simulation.scripts import START, phase, script

PROGRAM = [sys.executable, "-m", "local.simulation.neuron_monitor"]


@contextmanager
def running(node: Script, directory: Path, *arguments: str) -> Iterator[tuple["subprocess.Popen[bytes]", MonitorLink]]:
    path = directory / "s"
    with MonitorDoor(path, node) as door:
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, SOCKET_VARIABLE: str(path)},
        )
        link = door.admit()
        assert link is not None
        with process:
            yield process, link
            link.close()


def line_of(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    assert process.stdout is not None
    decoded: dict[str, Any] = json.loads(process.stdout.readline())
    return decoded


def config(directory: Path, period: str) -> Path:
    path = directory / "config.json"
    path.write_text(json.dumps({"period": period}), encoding="utf-8")
    return path


def test_it_prints_one_line_when_a_report_is_due_and_the_first_covers_almost_nothing(tmp_path: Path) -> None:
    with running(script(), tmp_path, "-c", str(config(tmp_path, "20s")), "--verbose", "1") as (process, link):
        assert link.hello.period_seconds == 20
        assert link.ask(Command(START, emit=True)) == 1
        first = line_of(process)
        assert link.ask(Command(START + 10, emit=False)) == 0
        assert link.ask(Command(START + 20, emit=True)) == 1
        second = line_of(process)

    periods = [shown["system_data"]["memory_info"]["period"] for shown in (first, second)]
    assert periods == [pytest.approx(0.0005, abs=1e-4), pytest.approx(20, abs=0.01)]
    assert process.returncode == 0


def test_it_dies_when_the_script_says_so(tmp_path: Path) -> None:
    with running(script(phase(PhaseKind.MONITOR_DEATH)), tmp_path) as (process, link):
        assert link.ask(Command(START, emit=False)) is None
        assert process.wait(10) == 1


def test_it_hangs_without_a_word_when_the_script_says_so(tmp_path: Path) -> None:
    with running(script(phase(PhaseKind.MONITOR_HANG)), tmp_path) as (process, link):
        assert link.ask(Command(START, emit=True)) == 0
        assert process.poll() is None


def test_it_prints_half_a_report_when_the_script_says_so(tmp_path: Path) -> None:
    with running(script(phase(PhaseKind.MONITOR_GARBAGE)), tmp_path) as (process, link):
        assert link.ask(Command(START, emit=True)) == 1
        assert process.stdout is not None
        with pytest.raises(json.JSONDecodeError):
            json.loads(process.stdout.readline())


def test_a_killed_monitor_answers_nothing_more(tmp_path: Path) -> None:
    with running(script(), tmp_path) as (process, link):
        process.terminate()
        assert link.ask(Command(START, emit=False)) is None


def test_an_unknown_flag_prints_the_usage_and_ends() -> None:
    ended = subprocess.run([*PROGRAM, "--unknown"], capture_output=True, text=True, check=False)

    assert ended.returncode != 0
    assert "usage: neuron-monitor" in ended.stderr


def test_without_a_node_it_says_so_in_one_line() -> None:
    environment = {name: value for name, value in os.environ.items() if name != SOCKET_VARIABLE}
    ended = subprocess.run(PROGRAM, capture_output=True, text=True, check=False, env=environment)

    assert (ended.returncode, ended.stdout) == (1, "")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("20s", 20.0), ("1s", 1.0), ("0.5s", 5.0), ("5.0s", 5.0), ("500ms", None)]
)
def test_periods_are_read_with_the_real_tools_habits(tmp_path: Path, text: str, seconds: float | None) -> None:
    assert period_of(config(tmp_path, text)) == seconds


def test_without_a_configuration_the_period_is_five_seconds() -> None:
    assert period_of(None) == 5
