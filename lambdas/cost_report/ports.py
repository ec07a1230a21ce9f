"""What the roll-up needs of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Protocol


class BillUnavailableError(Exception):
    """Cost Explorer does not answer, or is not switched on; the message is one line."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of the bucket."""

    key: str
    size: int
    changed_at: datetime


class Store(Protocol):
    """The ledger's bucket."""

    def below(self, prefix: str, after: str = "") -> Sequence[StoredObject]:
        """Every object below ``prefix``, in the order of keys, those after the key ``after``."""
        ...

    def read(self, key: str) -> bytes | None:
        """An object; None when there is none."""
        ...

    def fetch(self, key: str, target: Path) -> None:
        """Write an object to a file."""
        ...

    def send(self, source: Path | bytes, key: str) -> None:
        """Write a file to an object, in place of whatever was there."""
        ...


@dataclass(frozen=True, slots=True)
class Billed:
    """A day as AWS bills it, USD. ``by_record_type`` are the instances' charges, credits and Savings Plans."""

    by_record_type: Mapping[str, float]
    cloudwatch: float
    cloudwatch_account: float
    is_estimate: bool


class Bill(Protocol):
    """Cost Explorer."""

    def of(self, first: date, end: date) -> Mapping[date, Billed]:
        """The days from ``first`` to the one before ``end``.

        Raises:
            BillUnavailableError: it cannot be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it, and a place for files while the roll-up works."""

    store: Store
    bill: Bill
    scratch: Path
    seconds_left: Callable[[], float]
