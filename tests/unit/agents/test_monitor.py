"""neuron-monitor's configuration, its supervisor on given times, and its process for real."""

import json
import queue
import sys
from pathlib import Path

import pytest

from agents.monitor import settings
from agents.monitor.events import MonitorEvent, MonitorExited, MonitorLine, MonitorStarted
from agents.monitor.process import MonitorMissingError, MonitorProcess
from agents.monitor.report import Hardware
from agents.monitor.supervisor import Supervisor, backoff


def test_every_group_is_named_and_the_period_is_whole_seconds() -> None:
    made = json.loads(settings.render(5))

    groups = made["neuron_runtimes"][0]["metrics"] + made["system_metrics"]
    assert made["period"] == "5s"
    assert {group["type"] for group in groups} == {
        "neuroncore_counters",
        "memory_used",
        "neuron_runtime_vcpu_usage",
        "execution_stats",
        "vcpu_usage",
        "memory_info",
        "neuron_hw_counters",
    }


@pytest.mark.parametrize("period", [0, -5, 0.5, 5.0])
def test_a_period_that_the_tool_would_misread_is_refused(period: float) -> None:
    with pytest.raises(ValueError, match="whole seconds"):
        settings.render(period)  # type: ignore[arg-type]  # the refusal is for callers without types


class FakeProcess:
    """Counts what the supervisor asks of it."""

    def __init__(self) -> None:
        self.starts = 0
        self.stops = 0
        self.missing = False

    def start(self) -> None:
        self.starts += 1
        if self.missing:
            raise MonitorMissingError("/opt/neuron-monitor: No such file or directory")

    def stop(self) -> None:
        self.stops += 1


def test_a_dead_monitor_is_started_again_later_and_later() -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    now, waits = 1000.0, []
    for _ in range(8):
        supervisor.act(now)
        supervisor.heard(MonitorExited(1), now)
        waits.append(supervisor.deadline() - now)
        now = supervisor.deadline()

    assert process.starts == 8
    assert all(min(60, 2**index) / 2 <= wait <= min(60, 2**index) for index, wait in enumerate(waits))
    assert supervisor.problem == "neuron-monitor ended with code 1"


def test_a_readable_line_ends_the_problem_and_the_back_off() -> None:
    supervisor = Supervisor(FakeProcess(), 5, "i-1")
    for _ in range(6):
        supervisor.heard(MonitorExited(1), 0.0)
    supervisor.heard(MonitorStarted(1), 30.0)
    supervisor.works(30.1, Hardware())
    supervisor.works(90.0, Hardware())

    assert supervisor.problem is None
    supervisor.heard(MonitorExited(1), 0.0)
    assert supervisor.deadline() <= 1.0


def test_nodes_whose_monitors_die_together_do_not_start_them_together() -> None:
    assert len({backoff(f"i-{index}", 5) for index in range(50)}) == 50


def test_a_missing_program_is_a_problem_of_its_own_and_is_tried_again() -> None:
    process = FakeProcess()
    process.missing = True
    supervisor = Supervisor(process, 5, "i-1")

    supervisor.act(0.0)

    assert supervisor.problem is not None
    assert supervisor.problem.startswith("neuron-monitor is missing: /opt/neuron-monitor")
    assert 0 < supervisor.deadline() <= 1.0


def test_three_silent_periods_are_a_stall_and_the_first_line_has_longer() -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    supervisor.act(0.0)
    supervisor.heard(MonitorStarted(1), 0.0)
    assert supervisor.deadline() == 25.0

    supervisor.heard(MonitorLine(b"{}"), 10.0)
    supervisor.act(24.9)
    assert process.stops == 0
    supervisor.act(25.0)

    assert process.stops == 1
    assert "printed nothing for 3 periods" in (supervisor.problem or "")


def program(folder: Path, body: str) -> Path:
    """An executable Python program."""
    path = folder / "neuron-monitor"
    path.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


def started(folder: Path, body: str) -> tuple[MonitorProcess, "queue.Queue[MonitorEvent]"]:
    events: queue.Queue[MonitorEvent] = queue.Queue()
    process = MonitorProcess(program(folder, body), folder / "settings.json", events)
    process.start()
    assert isinstance(events.get(timeout=30), MonitorStarted)
    return process, events


def test_each_line_is_one_event_however_long_and_the_end_comes_last(tmp_path: Path) -> None:
    _, events = started(tmp_path, "print('x' * 500_000); sys.stdout.write('cut'); sys.stdout.flush(); sys.exit(3)")

    assert events.get(timeout=30) == MonitorLine(b"x" * 500_000 + b"\n")
    assert events.get(timeout=30) == MonitorLine(b"cut")
    assert events.get(timeout=30) == MonitorExited(3)
    assert events.empty()


def test_the_settings_are_passed_and_the_environment_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCENARIO", "stall")

    _, events = started(tmp_path, "print(sys.argv[1:], os.environ['SCENARIO'], os.getpgid(0) == os.getpid())")

    expected = f"['-c', '{tmp_path}/settings.json'] stall True\n"
    assert events.get(timeout=30) == MonitorLine(expected.encode())


def test_a_chatty_error_stream_does_not_block_it(tmp_path: Path) -> None:
    _, events = started(tmp_path, "sys.stderr.write('noise\\n' * 50_000); print('done')")

    assert events.get(timeout=30) == MonitorLine(b"done\n")
    assert events.get(timeout=30) == MonitorExited(0)


def test_stop_ends_it_gently_and_then_by_force(tmp_path: Path) -> None:
    gentle, events = started(tmp_path, "print('up', flush=True); signal.pause()")
    events.get(timeout=30)
    gentle.stop()
    assert events.get(timeout=30) == MonitorExited(-15)

    stubborn, events = started(
        tmp_path, "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\nwhile True: signal.pause()"
    )
    events.get(timeout=30)
    stubborn.stop(grace=0.1)
    assert events.get(timeout=30) == MonitorExited(-9)


def test_a_helper_that_holds_the_pipe_ends_with_its_group(tmp_path: Path) -> None:
    body = """
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print('helper', flush=True)
    while True: signal.pause()
signal.pause()
"""
    process, events = started(tmp_path, body)
    assert events.get(timeout=30) == MonitorLine(b"helper\n")

    process.stop(grace=1)

    # The exit is told only when nobody holds the pipe any more.
    assert events.get(timeout=30) == MonitorExited(-15)


def test_a_program_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    process = MonitorProcess(tmp_path / "none", tmp_path / "settings.json", queue.Queue())

    with pytest.raises(MonitorMissingError, match="none: No such file"):
        process.start()
    process.stop()
