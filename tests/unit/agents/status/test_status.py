"""``fleet-agent status``: what the loop leaves on disk, and what the command makes of it."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents import main
from agents.clock import SystemClock
from agents.errors import StatusError
from agents.status import view
from agents.status.health import CollectorHealth, MonitorHealth, SinkHealth
from agents.status.status import Parts, Status, StatusFile, describe
from agents.status.view import Answer, ask
from tests.support import agents, samples
from tests.support.agents import MINUTE
from tests.unit.agents.test_run import Simulation

PARTS = Parts(
    MonitorHealth(running=True, starts=3, problem=None, last_problem="neuron-monitor ended with code -9"),
    (CollectorHealth("jobs", MINUTE + 60, 0), CollectorHealth("compilers", None, 2)),
    (SinkHealth("cloudwatch", MINUTE + 61, 0, None, None), SinkHealth("logs", None, 7, MINUTE - 360, "throttled")),
)


def status(**changes: Any) -> Status:
    """A trn1.32xlarge that works, as of the end of its minute."""
    entry = agents.one_minute(*[samples.full_node()] * 12, instance_type="trn1.32xlarge")
    return replace(describe(entry, PARTS, MINUTE + 61), **changes)


def alive(_: int) -> bool:
    return True


def test_the_status_says_what_the_minute_held() -> None:
    seen = status()

    assert (seen.devices, seen.cores, seen.cores_allocated, seen.runtimes) == (16, 32, 32, 32)
    assert (seen.state, seen.node, seen.minute) == ("RUNNING", "i-1", "2026-11-21T03:00:00Z")
    assert [job.job_id for job in seen.jobs] == ["unattributed"]
    assert seen.pid == os.getpid()


def test_who_holds_cores_is_unknown_before_the_first_report_and_not_zero() -> None:
    seen = describe(agents.one_minute(), PARTS, MINUTE + 60)

    assert (seen.state, seen.cores_allocated, seen.runtimes, seen.devices) == ("BLIND", None, None, None)


def test_what_is_written_can_be_read_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = StatusFile(tmp_path)

    file.write(status())

    assert file.read() == status()
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


def test_a_folder_that_takes_no_file_does_not_stop_the_agent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    StatusFile(tmp_path / "gone").write(status())

    assert "gone/status.json: [Errno 2]" in caplog.text


DAMAGED = "damaged, or of another version of the agent: "


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "no such file; the agent does not run, or not yet for a minute"),
        (b"", DAMAGED + "Input data was truncated"),
        (b'{"written_at": 1', DAMAGED + "Input data was truncated"),
        (b"\xff\xfe", DAMAGED),
        (b'{"written_at": "x"}', DAMAGED + "Expected `float`, got `str` - at `$.written_at`"),
        (b"{}", DAMAGED + "Object missing required field `written_at`"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(tmp_path: Path, content: bytes | None, line: str) -> None:
    if content is not None:
        (tmp_path / "status.json").write_bytes(content)

    with pytest.raises(StatusError) as error:
        StatusFile(tmp_path).read()

    assert str(error.value).startswith(f"{tmp_path}/status.json: {line}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("state", "age", "lives", "exit_code"),
    [
        ("RUNNING", 0, True, 0),
        ("NO_JOB", 120, True, 0),
        ("DRAINING", 5, True, 0),
        ("RUNNING", 121, True, 1),
        ("RUNNING", 5, False, 1),
        ("BLIND", 5, True, 2),
        ("FAULT", 5, True, 2),
        # Nobody keeps the state up to date, so it says nothing.
        ("FAULT", 121, True, 1),
        # A clock that was set back.
        ("RUNNING", -300, True, 0),
    ],
)
def test_the_exit_code_is_the_verdict(tmp_path: Path, state: str, age: int, *, lives: bool, exit_code: int) -> None:
    file = StatusFile(tmp_path)
    file.write(status(state=state))

    assert ask(file, MINUTE + 61 + age, lambda _: lives).exit_code == exit_code


def test_an_old_file_says_how_old_and_what_that_means(tmp_path: Path) -> None:
    file = StatusFile(tmp_path)
    file.write(status())

    answer = ask(file, MINUTE + 61 + 600, alive)

    assert answer.verdict == f"{file.path}: written 10 min ago; the agent does not run, or hangs"
    assert answer.age_seconds == 600


def test_people_get_every_fact_in_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = StatusFile(tmp_path)
    file.write(status(problems=("jobs: [red]no answer[/red] in time",), cpu_percent=2.25, rss_bytes=63 * 1024 * 1024))

    view.show(ask(file, MINUTE + 71, alive), as_json=False)

    text = capsys.readouterr().out
    for fact in (
        "RUNNING: 3840 executions completed",
        "i-1 (trn1.32xlarge), test/pretrain",
        "16, 32 cores, 32 allocated",
        "unattributed",
        "runs, 2 restarts; last: neuron-monitor ended with code -9",
        "CPU 2.2 % of a core, memory 63 MiB",
        "jobs: [red]no answer[/red] in time",
        "throttled",
        "never",
        "10 s ago",
        "2026-11-21T02:54:00Z",
    ):
        assert fact in text, fact


def test_machines_get_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = StatusFile(tmp_path)
    file.write(status(state="BLIND", reason="silent"))

    view.show(ask(file, MINUTE + 71, alive), as_json=True)

    told = json.loads(capsys.readouterr().out)
    assert (told["exit_code"], told["verdict"], told["age_seconds"]) == (2, "BLIND: silent", 10)
    assert told["status"]["sinks"][1] == {
        "name": "logs",
        "confirmed_at": None,
        "waiting": 7,
        "oldest_minute": MINUTE - 360,
        "last_problem": "throttled",
    }


def test_machines_get_an_object_of_a_node_without_an_agent_too(capsys: pytest.CaptureFixture[str]) -> None:
    view.show(Answer(1, "none"), as_json=True)

    assert json.loads(capsys.readouterr().out) == {
        "exit_code": 1,
        "verdict": "none",
        "age_seconds": None,
        "status": None,
    }


def test_the_command_ends_with_the_verdict_on_standard_error_where_no_agent_runs(tmp_path: Path) -> None:
    result = CliRunner().invoke(main.app, ["status", "--run-directory", str(tmp_path)])

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == f"{tmp_path}/status.json: no such file; the agent does not run, or not yet for a minute\n"


def test_the_loop_writes_a_status_each_minute_and_takes_it_away_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Status] = []
    monkeypatch.setattr(StatusFile, "write", lambda _, status: written.append(status))
    simulation = Simulation(tmp_path)
    simulation.clock.schedule(MINUTE + 72, simulation.die)
    (tmp_path / "run" / "status.json").write_bytes(b"")

    simulation.run(180)

    assert [seen.written_at for seen in written[:2]] == [MINUTE + 60, MINUTE + 120]
    assert [seen.monitor.starts for seen in written[:2]] == [1, 2]
    assert written[1].monitor.last_problem == "neuron-monitor ended with code -9"
    assert written[1].monitor.problem is None
    assert {collector.name for collector in written[1].collectors} >= {"markers", "compilers", "jobs"}
    assert {collector.failures for collector in written[1].collectors} == {0}
    assert not (tmp_path / "run" / "status.json").exists()


def test_a_collector_that_is_switched_off_is_among_the_collectors(tmp_path: Path) -> None:
    entry = agents.one_minute(samples.full_node(), collectors_off=("EFA",))
    StatusFile(tmp_path).write(replace(describe(entry, PARTS, MINUTE + 61), written_at=SystemClock().now()))

    said = CliRunner().invoke(main.app, ["status", "--run-directory", str(tmp_path)]).stdout

    assert "EFA        switched off  -" in said
