"""What is to be done about a pool, as plain values."""

from dataclasses import dataclass

from fleet.pool.job import PoolJob
from fleet.pool.observed import Memory


@dataclass(frozen=True, slots=True)
class SetDesired:
    """Ask the group for so many nodes."""

    nodes: int


@dataclass(frozen=True, slots=True)
class Start:
    """Start the last attempt of ``job`` on the nodes that it names: all of them, or none."""

    job: PoolJob


@dataclass(frozen=True, slots=True)
class StopTask:
    """SIGTERM to one container, and SIGKILL when its time to save is over."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Tell the group that a node is unhealthy: it launches another one."""

    instance_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Release:
    """End a node that nobody wants, and want one less."""

    instance_id: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """A node that is being ended holds nothing any more: the group need not wait."""

    instance_id: str


Action = SetDesired | Start | StopTask | Replace | Release | LetGo


@dataclass(frozen=True, slots=True)
class Decision:
    """``jobs`` are those that changed, to be written down before anything is done; ``problems`` are for people."""

    jobs: tuple[PoolJob, ...]
    actions: tuple[Action, ...]
    memory: Memory
    problems: tuple[str, ...] = ()
