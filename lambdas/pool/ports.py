"""What the controller needs of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fleet.pool.actions import Start, StopTask
from fleet.pool.job import PoolJob
from fleet.pool.observed import Fault, Memory, Node, Place, Task


class BusyError(Exception):
    """Another invocation looks at the pool at this moment; it or the next tick sees what this one would have seen."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What is written down of one pool. ``stops``: jobs that somebody wants ended, by id, and who."""

    jobs: tuple[PoolJob, ...]
    memory: Memory
    faults: tuple[Fault, ...]
    stops: dict[str, str]
    is_closed: bool = False


class Book(Protocol):
    """The table of jobs."""

    def turn(self, fleet: str, now: datetime) -> AbstractContextManager[None]:
        """Be the only one who looks at the pool, for as long as the context lasts; raises ``BusyError``."""
        ...

    def read(self, fleet: str) -> Stored:
        """Everything of one pool."""
        ...

    def write(self, job: PoolJob) -> None:
        """Write down how a job stands."""
        ...

    def remember(self, fleet: str, memory: Memory) -> None:
        """Write down what outlasts a look."""
        ...

    def note(self, fleet: str, faults: Iterable[Fault]) -> None:
        """Write down what agents told of their nodes."""
        ...


class Group(Protocol):
    """The Auto Scaling groups."""

    def of(self, place: Place) -> tuple[int, tuple[Node, ...]]:
        """How many nodes the group wants, and its members, as far as Auto Scaling and EC2 know them."""
        ...

    def set_desired(self, place: Place, nodes: int) -> None:
        """Want so many nodes."""
        ...

    def replace(self, instance_id: str) -> None:
        """Call a node unhealthy."""
        ...

    def release(self, instance_id: str) -> None:
        """End a node and want one less."""
        ...

    def let_go(self, place: Place, instance_id: str) -> None:
        """Do not wait any longer for a node that is being ended."""
        ...


class Cluster(Protocol):
    """The ECS clusters."""

    def joined(self, place: Place, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """``nodes`` with their container instances, where they have joined."""
        ...

    def tasks(self, place: Place) -> tuple[Task, ...]:
        """The tasks that run, and those that ended within the hour."""
        ...

    def start(self, place: Place, action: Start) -> tuple[str, ...]:
        """Start one container on every node of the attempt; why not, one line for each that did not start."""
        ...

    def stop(self, place: Place, action: StopTask) -> None:
        """SIGTERM to a container."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. Each call may raise what botocore raises, and LookupError for what ought to be there and is not."""

    book: Book
    group: Group
    cluster: Cluster
