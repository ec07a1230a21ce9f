"""What the parts of the agent say of themselves, for ``fleet-agent status``. Times are unix seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MonitorHealth:
    """neuron-monitor: how often it was started, why it is down, and what was last wrong with it."""

    running: bool
    starts: int
    problem: str | None
    last_problem: str | None


@dataclass(frozen=True, slots=True)
class CollectorHealth:
    """One collector: when it was last asked something that it answered, and how often it raised or was late."""

    name: str
    answered_at: float | None
    failures: int


@dataclass(frozen=True, slots=True)
class SinkHealth:
    """One sink: when it last took a batch, how many batches wait for it, the minute of the oldest, the last trouble."""

    name: str
    confirmed_at: float | None
    waiting: int
    oldest_minute: int | None
    last_problem: str | None
