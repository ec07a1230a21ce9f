"""The neuron-monitor process: the only place that owns a child process.

It reads no clock: when to restart and what counts as a stall is decided by ``supervisor``.
"""

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO, Final

from agents.monitor.events import MonitorEvent, MonitorExited, MonitorLine, MonitorStarted

logger = logging.getLogger(__name__)
# Seconds between SIGTERM and SIGKILL: neuron-monitor may need a period to flush.
GRACE: Final = 5.0
_STDERR_LIMIT: Final = 500


class MonitorMissingError(OSError):
    """The program is not there or cannot be started; the message names it."""


class MonitorProcess:
    """One run of neuron-monitor at a time, in its own process group."""

    def __init__(self, program: Path, settings: Path, events: "queue.Queue[MonitorEvent]") -> None:
        self._command = [str(program), "-c", str(settings)]
        self._events = events
        self._process: subprocess.Popen[bytes] | None = None
        self._readers: list[threading.Thread] = []

    def start(self) -> None:
        """Start it and put ``MonitorStarted`` on the queue.

        Raises:
            MonitorMissingError: there is no such program, or it may not be executed.
        """
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise MonitorMissingError(f"{self._command[0]}: {error.strerror}") from error
        self._process = process
        self._events.put(MonitorStarted(process.pid))
        self._readers = [
            threading.Thread(target=self._read_lines, args=(process,), daemon=True),
            threading.Thread(target=_drain, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def stop(self, grace: float = GRACE) -> None:
        """End the process and wait for its readers; SIGKILL after ``grace`` seconds. Does nothing when none runs."""
        process = self._process
        if process is None:
            return
        _end(process, grace)
        for reader in self._readers:
            reader.join(timeout=grace)
        self._process = None

    def _read_lines(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None  # noqa: S101 - opened as a pipe above
        with process.stdout as stream:
            for line in iter(stream.readline, b""):
                self._events.put(MonitorLine(line))
        # The stream is closed, so nothing more can come: a process that lingers is ended.
        _end(process, GRACE, ask=False)
        self._events.put(MonitorExited(process.returncode))


def _end(process: "subprocess.Popen[bytes]", grace: float, *, ask: bool = True) -> None:
    if ask:
        _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    # Also when it has ended: a helper that it started may still hold the pipe.
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _drain(stream: IO[bytes] | None) -> None:
    # A full pipe would block the monitor, so it is read even though nobody needs it.
    assert stream is not None  # noqa: S101 - opened as a pipe above
    with stream:
        for line in iter(stream.readline, b""):
            text = line.decode("utf-8", "replace").rstrip()[:_STDERR_LIMIT]
            logger.warning("neuron-monitor says: %s", text)
