"""A job on a pool: what was asked for, how it stands, and what became of each attempt. Times are UTC."""

from dataclasses import dataclass
from datetime import datetime

from fleet.string_enum import StringEnum


class Phase(StringEnum):
    """WAITING for nodes; STARTING: its containers are on their way; STOPPING: those that run save and end."""

    WAITING = "WAITING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


OVER = frozenset({Phase.SUCCEEDED, Phase.FAILED})
HOLDS_NODES = frozenset({Phase.STARTING, Phase.RUNNING, Phase.STOPPING})


@dataclass(frozen=True, slots=True)
class Rank:
    """One node of an attempt. ``stop_code`` is ECS's word for why its container ended, empty while it runs."""

    index: int
    instance_id: str
    container_instance: str
    address: str
    instance_type: str
    task: str = ""
    """ARN of its task; empty until ECS shows it."""
    started_at: datetime | None = None
    stopped_at: datetime | None = None
    exit_code: int | None = None
    stop_code: str = ""
    reason: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its container has ended, or will never run."""
        return self.stopped_at is not None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start on all nodes at once; the first is number 1, as AWS Batch counts."""

    number: int
    begun_at: datetime
    ranks: tuple[Rank, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs."""
        return all(rank.is_over for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Order:
    """What was submitted, and does not change."""

    job_id: str
    name: str
    job: str
    """Its name in the job file."""
    fleet: str
    owner: str
    nodes: int
    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    created_at: datetime
    timeout_seconds: int
    """Of each attempt."""
    attempts: int
    """How often it is started, at most."""
    priority: int = 1
    tokens_wanted: float | None = None
    checkpoint: str = ""
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PoolJob:
    """An order and how it stands, since ``since``."""

    order: Order
    phase: Phase
    since: datetime
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    fails_with: str = ""
    """While STOPPING: why it will not be started again. Empty: what its containers ended with decides."""

    @property
    def is_over(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self.phase in OVER

    @property
    def last(self) -> Attempt | None:
        """The attempt that runs, or ran last."""
        return self.attempts[-1] if self.attempts else None


def submitted(order: Order) -> PoolJob:
    """The job as it is when nobody has looked at it yet."""
    return PoolJob(order, Phase.WAITING, order.created_at)
