"""A pool as deployed, what AWS showed of it at one moment, and what is remembered of its nodes. Times are UTC.

And what the end of an attempt means, by the line that AWS Batch's retry strategy draws in
``stacks.constructs.training_job``: hosts that fail, images that cannot be pulled and exit code 75 start the job again;
whatever else its own program ends with, ends the job.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from fleet.pool.job import Attempt, Rank

IN_SERVICE: Final = "InService"
DRAINING: Final = "Terminating:Wait"
"""The group holds the node until whoever drains it says that it may go, or the lifecycle hook's time is over."""


@dataclass(frozen=True, slots=True)
class PoolDeployment:
    """One pool: names and ARNs as deployed, and the limits of its environment file."""

    environment: str
    fleet: str
    group: str
    """Name of the Auto Scaling group."""
    cluster: str
    definitions: dict[str, str]
    """ARNs of the task definitions, by instance type."""
    image: str
    nodes: int
    keeps_nodes: bool
    """Whether its capacity is paid for anyway: then the capacity watch keeps it, and no node is let go."""
    drain_seconds: int
    idle_seconds: int
    start_seconds: int
    replace_at_once: int
    attempts: int
    longest_job_seconds: int

    @property
    def drain(self) -> timedelta:
        """How long a container has between its SIGTERM and its SIGKILL."""
        return timedelta(seconds=self.drain_seconds)


@dataclass(frozen=True, slots=True)
class Node:
    """A member of the group. ``state`` and ``is_healthy`` are Auto Scaling's, the container instance is ECS's."""

    instance_id: str
    instance_type: str
    state: str
    is_healthy: bool
    launched_at: datetime
    address: str
    container_instance: str = ""
    """Its ARN; empty: the node has not joined the cluster."""
    takes_tasks: bool = False
    """Whether ECS calls it active, and its agent is connected."""

    @property
    def is_in_service(self) -> bool:
        """Whether the group means to keep it."""
        return self.state == IN_SERVICE and self.is_healthy

    @property
    def is_leaving(self) -> bool:
        """Whether the group replaces it or lets it go."""
        return self.state.startswith("Terminat") or not self.is_healthy


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the cluster, as ECS shows it; those that ended are shown for an hour."""

    arn: str
    container_instance: str
    job_id: str
    attempt: int
    index: int
    is_running: bool
    started_at: datetime | None
    stopped_at: datetime | None
    exit_code: int | None = None
    stop_code: str = ""
    reason: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its container holds the node no more."""
        return self.stopped_at is not None


@dataclass(frozen=True, slots=True)
class Fault:
    """A hardware error, or a failed health gate, that a node's agent told of."""

    instance_id: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """What outlasts one look at a pool."""

    replaced: tuple[Fault, ...] = ()
    """Nodes that were given up within the last hours, and why."""
    silent: dict[str, datetime] = field(default_factory=dict)
    """Nodes in service that take no tasks, or hold one that is nobody's, by id, and since when."""


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it."""

    desired: int
    nodes: tuple[Node, ...] = ()
    tasks: tuple[Task, ...] = ()
    faults: tuple[Fault, ...] = ()
    memory: Memory = field(default_factory=Memory)
    stops: dict[str, str] = field(default_factory=dict)
    """Jobs that somebody wants ended, by id, and who."""
    is_closed: bool = False
    """Whether it is to start nothing, because the month's budget is used up."""

    def held_by(self, node: Node) -> tuple[Task, ...]:
        """The tasks that still hold ``node``."""
        own = node.container_instance
        return tuple(task for task in self.tasks if own and task.container_instance == own and not task.is_over)


# EX_TEMPFAIL of sysexits.h: the job saved its checkpoint, or lost a peer, and wants to be started again.
RESUME_EXIT_CODE: Final = 75
# ECS API reference, Task, stopCode.
_STOPPED_BY_US: Final = "UserInitiated"
_EXITED: Final = "EssentialContainerExited"


@dataclass(frozen=True, slots=True)
class Outcome:
    """``is_success`` and ``is_retried`` False: the job has failed."""

    reason: str
    is_success: bool = False
    is_retried: bool = False


def outcome(attempt: Attempt) -> Outcome | None:
    """What ``attempt`` came to, by the ranks that ended of themselves; None: none did that means anything.

    A rank that is alone because its peer's host is gone often ends with an error of its own, so a host that failed
    counts for more than any exit code.
    """
    ended = [rank for rank in attempt.ranks if rank.is_over and rank.stop_code != _STOPPED_BY_US]
    lost = next((rank for rank in ended if _is_lost(rank)), None)
    if lost is not None:
        return Outcome(f"node {lost.index} ({lost.instance_id}): {lost.reason or lost.stop_code}", is_retried=True)
    resumed = next((rank for rank in ended if rank.exit_code == RESUME_EXIT_CODE), None)
    if resumed is not None:
        return Outcome(f"node {resumed.index} asked to be started again", is_retried=True)
    failed = next((rank for rank in ended if rank.exit_code), None)
    if failed is not None:
        return Outcome(f"node {failed.index} ended with exit code {failed.exit_code}")
    # As on Batch, the main node's end is the job's; another one may have nothing left to do.
    return Outcome("", is_success=True) if any(rank.index == 0 for rank in ended) else None


def _is_lost(rank: Rank) -> bool:
    return rank.stop_code != _EXITED or rank.exit_code is None
