"""neuron-monitor's process for real: its lines, its end, and what it can do to the agent."""

import os
import queue
import signal
import sys
import time
from pathlib import Path

import pytest

from agents.errors import MonitorMissingError
from agents.monitor import output
from agents.monitor import process as process_module
from agents.monitor.process import (
    MonitorEvent,
    MonitorExited,
    MonitorLine,
    MonitorOverlongLine,
    MonitorProcess,
    MonitorStarted,
)


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
    process, events = started(tmp_path, "sys.stderr.write('noise\\n' * 50_000); print('done')")

    assert events.get(timeout=30) == MonitorLine(b"done\n")
    assert events.get(timeout=30) == MonitorExited(0)
    # What it still has to say would be in the next test's log.
    process.close()


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


def test_the_loop_does_not_wait_for_a_monitor_that_does_not_end(tmp_path: Path) -> None:
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\nwhile True: signal.pause()"
    stubborn, events = started(tmp_path, body)
    events.get(timeout=30)

    before = time.monotonic()
    stubborn.stop(grace=1_000)

    # The grace would be a quarter of an hour; starting a thread takes no second even on a busy machine.
    assert time.monotonic() - before < 20
    assert events.empty()
    stubborn.close(grace=0.1)
    assert events.get(timeout=30) == MonitorExited(-9)


def test_in_lockstep_the_end_of_the_monitor_is_waited_for(tmp_path: Path) -> None:
    events: queue.Queue[MonitorEvent] = queue.Queue()
    body = "print('up', flush=True); signal.pause()"
    process = MonitorProcess(program(tmp_path, body), tmp_path / "settings.json", events, lockstep=True)
    process.start()
    assert [events.get(timeout=30), events.get(timeout=30)][1] == MonitorLine(b"up\n")

    child = process._process

    process.stop()

    # The reader forgets the process as soon as it has ended, which may be before or after this line.
    assert child is not None
    assert child.returncode == -15
    process.close()


def test_a_line_without_end_is_not_kept_and_the_next_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "LONGEST_LINE", 100_000)

    _, events = started(tmp_path, "sys.stdout.write('x' * 350_000 + '\\n' + 'y' * 99_999 + '\\n'); print('after')")

    assert events.get(timeout=30) == MonitorOverlongLine(350_001)
    assert events.get(timeout=30) == MonitorLine(b"y" * 99_999 + b"\n")
    assert events.get(timeout=30) == MonitorLine(b"after\n")
    assert events.get(timeout=30) == MonitorExited(0)


def test_an_error_stream_without_line_ends_is_read_in_pieces(tmp_path: Path) -> None:
    process, events = started(tmp_path, "sys.stderr.write('z' * 5_000_000); print('done')")

    assert events.get(timeout=30) == MonitorLine(b"done\n")
    assert events.get(timeout=30) == MonitorExited(0)
    # It is read for seconds after the end, and would be in the next test's log.
    process.close(grace=30)


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


def test_a_helper_that_left_the_group_and_holds_the_pipes_does_not_hide_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_SILENCE", 0.1)
    body = "print('up', flush=True)\npid = os.fork()\nif not pid: os.setsid(); signal.pause()\nprint(pid, flush=True)"
    process, events = started(tmp_path, body)
    assert events.get(timeout=30) == MonitorLine(b"up\n")
    line = events.get(timeout=30)
    assert isinstance(line, MonitorLine)
    try:
        assert events.get(timeout=30) == MonitorExited(0)
        process.close()
        assert not [thread for thread in process._readers if thread.is_alive()]
    finally:
        os.kill(int(line.data), signal.SIGKILL)


def test_a_flood_of_errors_is_not_logged_but_its_end_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    body = "sys.stderr.write('noise\\n' * 100_000 + 'panic: no device\\n')"
    process, events = started(tmp_path, body)
    assert events.get(timeout=30) == MonitorExited(0)
    process.close()

    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("neuron-monitor sa")]
    # 60 lines, and one about the other 99,940 of 6 bytes and the last of 17.
    assert len(said) == 61
    assert said[0] == "neuron-monitor says: noise"
    assert said[-1].startswith("neuron-monitor said 599657 bytes more")
    assert said[-1].endswith("noise\npanic: no device")


def test_a_program_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    process = MonitorProcess(tmp_path / "none", tmp_path / "settings.json", queue.Queue())

    with pytest.raises(MonitorMissingError, match="none: No such file") as missing:
        process.start()
    process.stop()
    process.close()
    assert missing.value.is_absent


def test_a_program_that_may_not_be_executed_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "neuron-monitor").write_text("not a program")
    process = MonitorProcess(tmp_path / "neuron-monitor", tmp_path / "settings.json", queue.Queue())

    with pytest.raises(MonitorMissingError, match="neuron-monitor: Permission denied") as unusable:
        process.start()

    assert not unusable.value.is_absent
