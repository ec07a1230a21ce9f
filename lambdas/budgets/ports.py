"""What budgets need of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from fleet.budgets.budget import Budgets
from fleet.budgets.stop import Stop
from fleet.ledger import Line


class ConflictError(Exception):
    """Somebody else changed the record since it was read."""


class BatchPlace(BaseModel):
    """Where a fleet's jobs wait and run on AWS Batch; ARNs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queue: str
    compute_environment: str


class PoolPlace(BaseModel):
    """Where a pool's controller reads whether it is closed: the table of pools' jobs, and the pool's own name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str
    fleet: str


Place = BatchPlace | PoolPlace


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered: the stop, and the fleets that it has closed. ``version`` is 0 before the first."""

    stop: Stop | None = None
    closed: tuple[str, ...] = ()
    version: int = 0


class Books(Protocol):
    """The ledger."""

    def of(self, day: date) -> Sequence[Line] | None:
        """The lines of a day; None when it has no ledger."""
        ...


class Memory(Protocol):
    """The record of one environment."""

    def read(self) -> Record:
        """As it is."""
        ...

    def write(self, record: Record) -> Record:
        """Store over the version that was read.

        Raises:
            ConflictError: that is no longer the one.
        """
        ...


class Queues(Protocol):
    """AWS Batch, and the pools."""

    def open_among(self, places: Mapping[str, Place]) -> frozenset[str]:
        """The fleets of ``places`` that take jobs, or start them."""
        ...

    def close(self, place: Place) -> None:
        """Take no jobs and start none; those that run go on. It may be closed already."""
        ...

    def open(self, place: Place) -> None:
        """Take jobs and start them. It may be open already."""
        ...


class People(Protocol):
    """The ticket topic."""

    def tell(self, key: str, subject: str, body: str) -> None:
        """Publish a notice, which is delivered once by its key."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. Without ``budgets`` there is only the digest; ``memory`` and ``places`` come with the stop."""

    environment: str
    books: Books
    people: People
    queues: Queues
    budgets: Budgets | None = None
    memory: Memory | None = None
    places: Mapping[str, Place] | None = None
    approvers: Collection[str] = ()
