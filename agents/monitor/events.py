"""What the monitor's process tells the agent's loop, through one queue."""

from dataclasses import dataclass


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
