"""What the refresh needs of the world. ``adapters`` speaks to AWS; tests bring recorded answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fleet.instances import InstanceType
from fleet.prices.record import PriceRecord


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: prices of ``types``, those of the environment first, in ``region``, as of ``now``.

    ``has_time`` is False once nothing more should be asked for.
    """

    types: tuple[InstanceType, ...]
    region: str
    now: datetime
    has_time: Callable[[], bool]

    @property
    def today(self) -> str:
        """The day of the answer, which is the date of its prices."""
        return self.now.date().isoformat()

    @property
    def read_at(self) -> str:
        """The moment of the answer, for the table."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one source said. ``problems`` could not be read, ``absent`` has no price.

    Both are reasons by instance type; the empty type stands for all that were asked for.
    """

    found: tuple[PriceRecord, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    absent: tuple[tuple[str, str], ...] = ()

    def reason(self, instance_type: str) -> str | None:
        """Why there is no price of that type."""
        every = dict(self.absent) | dict(self.problems)
        return every.get(instance_type) or every.get("")


class Source(Protocol):
    """One of AWS's price lists. What it cannot read it names in its answer, and raises nothing that it knows of."""

    name: str
    kinds: frozenset[str]

    def read(self, question: Question) -> Reading:
        """All that it has."""
        ...


class Table(Protocol):
    """Where prices are kept."""

    def read(self) -> tuple[Mapping[str, PriceRecord], tuple[str, ...]]:
        """Every record by its key, and one line for each that cannot be read."""
        ...

    def put(self, record: PriceRecord) -> None:
        """Keep ``record``, unless a later reading of it is there already."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it."""

    sources: Sequence[Source]
    table: Table
