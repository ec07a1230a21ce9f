"""The neuron-monitor process: the only place that owns a child process. It tells the agent's loop through one queue.

It reads no clock: when to restart and what counts as a stall is decided by ``supervisor``.
"""

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from agents.errors import MonitorMissingError
from agents.monitor.output import drain, lines_of


@dataclass(frozen=True, slots=True)
class MonitorStarted:
    """A process runs."""

    pid: int


@dataclass(frozen=True, slots=True)
class MonitorLine:
    """One line of its standard output; the last one may be cut short."""

    data: bytes


@dataclass(frozen=True, slots=True)
class MonitorOverlongLine:
    """A line that was too long to be kept, of ``size`` bytes; it is gone."""

    size: int


@dataclass(frozen=True, slots=True)
class MonitorExited:
    """The process has ended; nothing of it follows. Negative codes are signals."""

    returncode: int


MonitorEvent = MonitorStarted | MonitorLine | MonitorOverlongLine | MonitorExited


logger = logging.getLogger(__name__)
# Seconds between SIGTERM and SIGKILL: neuron-monitor may need a period to flush.
GRACE: Final = 5.0
# A report of 128 processes on 128 cores would have 7 MB: 32 on 32 have 444 KB, and every process lists every core.
LONGEST_LINE: Final = 16 * 1024 * 1024
_CHUNK: Final = 64 * 1024


class MonitorProcess:
    """One run of neuron-monitor at a time, in its own process group."""

    def __init__(
        self, program: Path, settings: Path, events: "queue.Queue[MonitorEvent]", *, lockstep: bool = False
    ) -> None:
        """In ``lockstep`` with virtual time, ``stop`` waits for the end: it happens at the moment it is asked for."""
        self._command = [str(program), "-c", str(settings)]
        self._events = events
        self._lockstep = lockstep
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
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            is_absent = isinstance(error, FileNotFoundError)
            raise MonitorMissingError(f"{self._command[0]}: {error.strerror}", is_absent=is_absent) from error
        self._process = process
        self._events.put(MonitorStarted(process.pid))
        self._readers = [
            threading.Thread(target=self._read_lines, args=(process,), name="monitor output", daemon=True),
            threading.Thread(target=_read_errors, args=(process,), name="monitor errors", daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def stop(self, grace: float = GRACE) -> None:
        """Have the process ended, by SIGKILL after ``grace`` seconds; its exit is an event. Returns at once."""
        process = self._process
        if process is None:
            return
        ending = threading.Thread(target=_end, args=(process, grace), name="monitor end", daemon=True)
        ending.start()
        if self._lockstep:
            ending.join()

    def close(self, grace: float = GRACE) -> None:
        """End the process and wait for it and its readers, at most four times ``grace`` seconds; it may be gone."""
        process = self._process
        if process is not None:
            _end(process, grace)
        for reader in self._readers:
            reader.join(timeout=grace)
        self._process = None

    def _read_lines(self, process: "subprocess.Popen[bytes]") -> None:
        with lines_of(process.stdout, lambda: process.poll() is not None) as stream:
            while (event := _next_line(stream)) is not None:
                self._events.put(event)
        # The stream is closed, so nothing more can come: a process that lingers is ended.
        _end(process, GRACE, ask=False)
        returncode = process.wait()
        if self._process is process:
            # Its number may soon be another's: nobody must signal it any more.
            self._process = None
        self._events.put(MonitorExited(returncode))


def _read_errors(process: "subprocess.Popen[bytes]") -> None:
    drain(lines_of(process.stderr, lambda: process.poll() is not None))


def _next_line(stream: IO[bytes]) -> MonitorLine | MonitorOverlongLine | None:
    line = stream.readline(LONGEST_LINE)
    if len(line) < LONGEST_LINE or line.endswith(b"\n"):
        return MonitorLine(line) if line else None
    size = len(line)
    while line and not line.endswith(b"\n"):
        line = stream.readline(_CHUNK)
        size += len(line)
    return MonitorOverlongLine(size)


def _end(process: "subprocess.Popen[bytes]", grace: float, *, ask: bool = True) -> None:
    if ask:
        _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    # Also when it has ended: a helper that it started may still hold the pipe.
    _signal_group(process, signal.SIGKILL)
    try:
        process.wait(timeout=grace)
    except subprocess.TimeoutExpired:
        # It hangs inside the driver, where no signal reaches it. A second one would only hang beside it.
        logger.error("neuron-monitor (process %d) does not end, even when killed", process.pid)  # noqa: TRY400 - told


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
