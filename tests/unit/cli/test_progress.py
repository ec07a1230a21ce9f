"""What takes long says so on standard error; what was asked for stands on standard output alone."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli import progress
from cli.main import app
from cli.progress import waiting
from cli.replay import command
from local.replay.run import OURS, SETS
from local.replay.scenario import CORPUS, load


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def told(monkeypatch: pytest.MonkeyPatch, file: io.StringIO) -> str:
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_TERMINAL_EVERY_SECONDS", 0.01)
    with waiting("replaying", 0.01) as line:
        line.update("scenario 12 of 75")
        end = time.monotonic() + 5
        while "scenario 12" not in file.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        with line.aside():
            file.write("aside\n")
    return file.getvalue()


def test_a_log_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = told(monkeypatch, io.StringIO()).splitlines()
    assert "replaying: scenario 12 of 75, 0 s" in lines
    assert not any("\r" in line or "\x1b" in line for line in lines)


def test_a_terminal_gets_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    text = told(monkeypatch, Terminal())
    assert "\r\x1b[Kreplaying: scenario 12 of 75, 0 s" in text
    before, after = text.split("aside\n")
    assert before.endswith("\r\x1b[K")
    assert after.endswith("\r\x1b[K") or not after


def test_what_is_over_at_once_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("asking"):
        pass
    assert capsys.readouterr() == ("", "")


def fail_late() -> float:
    time.sleep(0.05)
    return 1 / 0


def test_a_mistake_within_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Terminal()
    monkeypatch.setattr("sys.stderr", file)
    with pytest.raises(ZeroDivisionError), waiting("asking", 0.001):
        fail_late()
    assert file.getvalue().endswith("\r\x1b[K")


def replay(*words: str) -> Result:
    return CliRunner().invoke(app, ["replay", *words])


def quickest(count: int) -> list[Path]:
    return sorted(CORPUS.glob("*.yaml"), key=lambda path: load(path).node_hours)[:count]


def test_a_replay_says_how_far_it_is_beside_its_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    (path,) = quickest(1)
    answer = replay(str(path), "--json")
    assert json.loads(answer.stdout)["scenarios"][0]["name"]
    assert answer.stderr.startswith("replaying")


def test_a_scenario_is_found_by_its_name_and_another_is_told_the_nearest() -> None:
    (path,) = quickest(1)
    assert f"{load(path).name}: " in replay(path.stem).stdout
    answer = replay(path.stem.replace("-", "", 1))
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.endswith(f"; did you mean {path.stem}?\n")


def test_a_folder_without_scenarios_is_one_line(tmp_path: Path) -> None:
    answer = replay(str(tmp_path))
    assert (answer.exit_code, answer.stderr) == (1, f"{tmp_path}: no scenario in it; they end in .yaml\n")


def test_scenarios_side_by_side_come_to_the_same_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = [(load(path), path.parent) for path in quickest(4)]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with command.replaying(read, {OURS: SETS[OURS]}) as found:
        side_by_side = list(found)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with command.replaying(read, {OURS: SETS[OURS]}) as found:
        assert side_by_side == list(found)
