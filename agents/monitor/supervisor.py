"""When to start neuron-monitor again: after it ended, when it cannot be started, and when it has gone quiet.

Works on the times it is given. Back-off doubles from one second to a minute; its jitter comes from the node's name,
so that a fleet whose monitors die together does not start them together.

What is wrong with the monitor is one word for queries, the log event's ``monitor.status``, beside the sentence for
people in its ``state_reason``. In every one of these states but ``working`` and ``starting`` the node is BLIND.
"""

import logging
import zlib
from enum import StrEnum
from typing import Final, Protocol

from agents.errors import MonitorMissingError
from agents.monitor.decode.report import Hardware
from agents.monitor.process import MonitorEvent, MonitorExited, MonitorLine, MonitorOverlongLine, MonitorStarted
from agents.status.health import MonitorHealth

logger = logging.getLogger(__name__)
STALL_PERIODS: Final = 3
# Before the first line the tool opens every device; seconds on top of the stall limit.
START_UP_SECONDS: Final = 10.0
_LONGEST_BACKOFF: Final = 60.0


class MonitorStatus(StrEnum):
    """Why the cores can or cannot be seen."""

    STARTING = "starting"
    WORKING = "working"
    BINARY_MISSING = "binary-missing"
    NOT_STARTED = "not-started"
    ENDED = "ended"
    STALLED = "stalled"
    UNREADABLE = "unreadable"
    DRIVER_MISSING = "driver-missing"
    NO_DEVICES = "no-devices"


class Startable(Protocol):
    """What the supervisor needs of a process."""

    def start(self) -> None:
        """Start it, or raise ``MonitorMissingError``."""

    def stop(self) -> None:
        """Have it ended, without waiting; its exit arrives as an event."""


class Supervisor:
    """Keeps one monitor running.

    ``problem`` says why there is none, for the node's state; ``status`` says it in one word. ``starts`` counts the
    processes that this agent started.
    """

    def __init__(self, process: Startable, period: float, node: str) -> None:
        self._process = process
        self._period = period
        self._node = node
        self._attempts = 0
        self._started_at = 0.0
        self._start_at: float | None = 0.0
        self._stalls_at: float | None = None
        self._is_ending_it = False
        self._last_problem: str | None = None
        self.problem: str | None = None
        self.status = MonitorStatus.STARTING
        self.starts = 0
        self._unreadable = 0

    def deadline(self) -> float:
        """When ``act`` is needed next, in clock seconds; infinity when nothing is due."""
        due = [at for at in (self._start_at, self._stalls_at) if at is not None]
        return min(due, default=float("inf"))

    def act(self, now: float) -> None:
        """Start or end the process if that is due."""
        if self._start_at is not None and now >= self._start_at:
            self._start(now)
        elif self._stalls_at is not None and now >= self._stalls_at:
            self.problem = f"neuron-monitor printed nothing for {STALL_PERIODS} periods; it is restarted"
            self._enter(MonitorStatus.STALLED, self.problem)
            self._stalls_at = None
            self._is_ending_it = True
            self._process.stop()

    def heard(self, event: MonitorEvent, now: float) -> None:
        """Take note of what the process did."""
        match event:
            case MonitorStarted():
                self._started_at = now
                self.starts += 1
                self._stalls_at = now + STALL_PERIODS * self._period + START_UP_SECONDS
            case MonitorLine() | MonitorOverlongLine():
                self._stalls_at = now + STALL_PERIODS * self._period
            case MonitorExited(returncode):
                self._stalls_at = None
                if not self._is_ending_it:
                    self.problem = f"neuron-monitor ended with code {returncode}"
                    self._enter(MonitorStatus.ENDED, self.problem)
                self._is_ending_it = False
                self._start_later(now)

    def works(self, now: float, hardware: Hardware) -> None:
        """A line could be read: whatever was wrong is over. Its back-off ends when it has lived for a minute."""
        self._last_problem = self.problem or self._last_problem
        self.problem = None
        self._unreadable = 0
        self._enter(of_hardware(hardware, self.status), hardware.error or "neuron-monitor reports")
        if now - self._started_at >= _LONGEST_BACKOFF:
            self._attempts = 0

    def health(self) -> MonitorHealth:
        """For ``fleet-agent status``."""
        last = self.problem or self._last_problem
        return MonitorHealth(self._stalls_at is not None, self.starts, self.problem, last)

    def heard_unreadable(self) -> None:
        """A line could not be read."""
        self._unreadable += 1
        if self._unreadable >= STALL_PERIODS:
            self._enter(MonitorStatus.UNREADABLE, "its output cannot be read")

    def clock_moved(self, seconds: float) -> None:
        """Move what is due by as much as the clock was moved; ``seconds`` are negative when it was set back."""
        self._start_at = None if self._start_at is None else self._start_at + seconds
        self._stalls_at = None if self._stalls_at is None else self._stalls_at + seconds
        self._started_at += seconds

    def _enter(self, status: MonitorStatus, why: str) -> None:
        if status is not self.status:
            self.status = status
            level = logging.INFO if status is MonitorStatus.WORKING else logging.ERROR
            logger.log(level, "neuron-monitor is now %s: %s", status.value, why)

    def _start(self, now: float) -> None:
        self._start_at = None
        try:
            self._process.start()
        except MonitorMissingError as error:
            what, status = ("is missing", MonitorStatus.BINARY_MISSING)
            if not error.is_absent:
                what, status = ("cannot be started", MonitorStatus.NOT_STARTED)
            self.problem = f"neuron-monitor {what}: {error}"
            self._enter(status, str(error))
            self._start_later(now)

    def _start_later(self, now: float) -> None:
        delay = backoff(self._node, self._attempts)
        self._attempts += 1
        self._start_at = now + delay
        logger.error("%s; next start in %.1f s", self.problem, delay)


def backoff(node: str, attempts: int) -> float:
    """Seconds to wait after ``attempts`` failures: the upper half of the doubling interval, by the node's name."""
    longest = min(_LONGEST_BACKOFF, 2.0**attempts)
    share = zlib.crc32(f"{node}:{attempts}".encode()) / 0xFFFFFFFF
    return longest * (0.5 + share / 2)


def of_hardware(hardware: Hardware, before: MonitorStatus) -> MonitorStatus:
    """What a readable report says of the node; one that says nothing of the hardware changes nothing about it.

    Without a driver or a device the tool keeps running and reports: ``neuron_hardware_info.error`` is "usually due to
    the Neuron Driver not being installed or not running" (Neuron's user guide of neuron-monitor).
    """
    if hardware.error:
        return MonitorStatus.DRIVER_MISSING
    if hardware.devices == 0:
        return MonitorStatus.NO_DEVICES
    is_known = before in (MonitorStatus.DRIVER_MISSING, MonitorStatus.NO_DEVICES)
    return before if is_known and hardware.devices is None else MonitorStatus.WORKING
