"""The ledger, the queues and the people of a budget, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from fleet.budgets.spending import Budgets, StopMode
from fleet.ledger import Line
from lambdas.budgets.adapters import Dependencies
from lambdas.budgets.fleets import BatchTarget, Target
from lambdas.budgets.stop_table import ConflictError, Record

NOW = datetime(2026, 11, 20, 12, 35, tzinfo=UTC)
ADA = "arn:aws:iam::111122223333:role/ada"


@dataclass
class MemoryBooks:
    """Days as they are put in."""

    days: dict[date, Sequence[Line]] = field(default_factory=dict)

    def of(self, day: date) -> Sequence[Line] | None:
        return self.days.get(day)


@dataclass
class MemoryRecord:
    """One record; it conflicts as often as it is told."""

    record: Record = field(default_factory=Record)
    conflicts: int = 0

    def read(self) -> Record:
        return self.record

    def write(self, record: Record) -> Record:
        if self.conflicts or record.version != self.record.version:
            self.conflicts -= 1
            raise ConflictError
        self.record = replace(record, version=record.version + 1)
        return self.record


@dataclass
class MemoryQueues:
    """Queues by ARN, open or not; those in ``broken`` fail."""

    is_open: dict[str, bool] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)

    def open_among(self, places: Mapping[str, Target]) -> frozenset[str]:
        return frozenset(fleet for fleet, place in places.items() if self.is_open[queue(place)])

    def close(self, place: Target) -> None:
        self._turn(place, to=False)

    def open(self, place: Target) -> None:
        self._turn(place, to=True)

    def _turn(self, place: Target, *, to: bool) -> None:
        if queue(place) in self.broken:
            raise OSError(f"{queue(place)} does not answer")
        self.is_open[queue(place)] = to
        self.done.append(f"{'open' if to else 'close'} {queue(place)}")


def queue(place: Target) -> str:
    assert isinstance(place, BatchTarget)
    return place.queue


@dataclass
class Told:
    """Notices by key, once each, as the pager delivers them."""

    notices: dict[str, tuple[str, str]] = field(default_factory=dict)

    def tell(self, key: str, subject: str, body: str) -> None:
        self.notices.setdefault(key, (subject, body))

    @property
    def subjects(self) -> list[str]:
        return [subject for subject, _ in self.notices.values()]


@dataclass
class Desk:
    """All of it, and the dependencies made of it; two fleets that may be stopped."""

    stop: StopMode = StopMode.ASK
    usd: float = 1000.0
    owners: Mapping[str, float] = field(default_factory=dict)
    books: MemoryBooks = field(default_factory=MemoryBooks)
    memory: MemoryRecord = field(default_factory=MemoryRecord)
    queues: MemoryQueues = field(default_factory=lambda: MemoryQueues({"q-small": True, "q-spot": True}))
    people: Told = field(default_factory=Told)

    @property
    def aws(self) -> Dependencies:
        places = {name: BatchTarget(queue=f"q-{name}", compute_environment=f"c-{name}") for name in ("small", "spot")}
        has_stop = self.stop is not StopMode.NEVER
        ledger: Any = self.books
        tickets: Any = self.people
        fleets: Any = self.queues
        stops: Any = self.memory
        return Dependencies(
            environment="dev",
            ledger=ledger,
            tickets=tickets,
            fleets=fleets,
            budgets=Budgets(self.usd, self.owners, stop=self.stop),
            stops=stops if has_stop else None,
            targets=places if has_stop else {},
            approvers=(ADA,),
        )
