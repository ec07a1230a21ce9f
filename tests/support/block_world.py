"""A world in virtual time for Capacity Blocks: an EC2 that may not answer, a store that others write to, jobs that run.

Everything that can go wrong is drawn from one seeded generator, so that a schedule that fails can be run again.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.blocks.life import Block, seconds_for_job
from fleet.blocks.offering import Offering, Search
from fleet.blocks.post_mortem import NodeMinutes
from fleet.blocks.purchase import Request
from lambdas.capacity_blocks.fleets import BlockFleet
from lambdas.capacity_blocks.market import PurchaseRefusedError, PurchaseUnansweredError
from lambdas.capacity_blocks.request_table import ConflictError, Record
from lambdas.capacity_blocks.service import Dependencies

APPROVER = "arn:aws:iam::111122223333:role/approver"
REQUESTER = "arn:aws:iam::111122223333:user/ada"
STRANGER = "arn:aws:iam::111122223333:user/eve"
BEGIN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
FLEET = "frontier"
DEPLOYED = BlockFleet("ce", "queue", 192, "trn2.48xlarge", "us-east-2a", "cr-r1")


class Crashed(BaseException):
    """The Lambda's process ended in the middle of something."""


@dataclass
class Trouble:
    """How much goes wrong, as probabilities for each call."""

    dice: random.Random
    crash: float = 0.0
    meanwhile: float = 0.0
    refuse: float = 0.0
    no_answer: float = 0.0

    def maybe_crash(self) -> None:
        """End the process here, sometimes."""
        if self.dice.random() < self.crash:
            raise Crashed


@dataclass
class MemoryStore:
    """Versions as DynamoDB's conditional writes keep them. ``meanwhile`` is what another invocation does first."""

    trouble: Trouble
    records: dict[str, Record] = field(default_factory=dict)
    meanwhile: Callable[[], None] | None = None

    def open(self) -> Iterable[Record]:
        return list(self.records.values())

    all = open

    def read(self, request_id: str) -> Record | None:
        return self.records.get(request_id)

    def write(self, record: Record) -> Record:
        other, dice = self.meanwhile, self.trouble.dice
        if other is not None and dice.random() < self.trouble.meanwhile:
            self.meanwhile = None
            other()
            self.meanwhile = other
        self.trouble.maybe_crash()
        stored = self.records.get(record.request.request_id)
        if (stored.version if stored else 0) != record.version:
            raise ConflictError
        kept = replace(record, version=record.version + 1)
        self.records[record.request.request_id] = kept
        self.trouble.maybe_crash()
        return kept


@dataclass
class FakeMarket:
    """``purchases`` are all that EC2 took money for, by request. A new block shows up only after a while."""

    trouble: Trouble
    clock: Callable[[], datetime]
    delivery_delay: timedelta = timedelta(0)
    purchases: dict[str, list[datetime]] = field(default_factory=dict)
    blocks: dict[str, Offering] = field(default_factory=dict)
    longer: timedelta = timedelta(0)
    extension_fee_usd: float | None = None

    def purchase(self, request: Request) -> str:
        self.trouble.maybe_crash()
        luck = self.trouble.dice.random()
        if luck < self.trouble.refuse:
            raise PurchaseRefusedError("The requested offering is not available")
        if luck < self.trouble.refuse + self.trouble.no_answer / 2:
            raise PurchaseUnansweredError
        self.purchases.setdefault(request.request_id, []).append(self.clock())
        self.blocks[f"cr-{request.request_id}"] = request.offering
        self.trouble.maybe_crash()
        if luck < self.trouble.refuse + self.trouble.no_answer:
            raise PurchaseUnansweredError
        return f"cr-{request.request_id}"

    def find(self, request_id: str) -> str | None:
        bought = self.purchases.get(request_id)
        visible = bought and self.clock() - bought[0] >= timedelta(minutes=10)
        return f"cr-{request_id}" if visible else None

    def block(self, reservation_id: str, fleet: str) -> Block | None:
        offering = self.blocks.get(reservation_id)
        if offering is None:
            return None
        delivered = self.clock() >= offering.start + self.delivery_delay
        end = offering.end + self.longer
        return Block(reservation_id, fleet, offering.instances, offering.start, end, delivered)

    def offering(self, search: Search, offering_id: str) -> Offering | None:
        return None

    def extensions(self, reservation_id: str) -> tuple[Offering, ...]:
        return ()

    def extended(self, reservation_id: str) -> tuple[Offering, ...]:
        """The extension by ``longer``, where EC2 shows its fee."""
        offering = self.blocks[reservation_id]
        if self.extension_fee_usd is None:
            return ()
        start, end = offering.end, offering.end + self.longer
        return (replace(offering, start=start, end=end, fee_usd=self.extension_fee_usd),)


@dataclass
class Job:
    """Runs until ``ends_at``; the engine's time-out is in it already."""

    ends_at: datetime


@dataclass
class FakeFleets:
    """A fleet of one kind of job. Draining jobs take their time; a stop takes none."""

    trouble: Trouble
    clock: Callable[[], datetime]
    nodes: int = 0
    is_draining: bool = False
    jobs: list[Job] = field(default_factory=list)
    calls: list[tuple[datetime, str]] = field(default_factory=list)

    def scale(self, fleet: str, nodes: int) -> None:
        self._called(f"scale {nodes}")
        self.nodes = nodes
        self.is_draining = self.is_draining and nodes == 0

    def checkpoint(self, fleet: str, ends_at: datetime) -> None:
        self._called("checkpoint")

    def drain(self, fleet: str) -> None:
        self._called("drain")
        self.is_draining = True
        for job in self.jobs:
            job.ends_at = min(job.ends_at, self.clock() + timedelta(minutes=self.trouble.dice.randint(0, 20)))

    def stop(self, fleet: str) -> bool:
        self._called("stop")
        nothing_ran = not self.running()
        self.jobs.clear()
        return nothing_ran

    def start_job(self, block: Block | None) -> None:
        """As the engine does: with the time-out that the block leaves, or not at all."""
        seconds = seconds_for_job(block, self.clock()) if block else None
        if not self.nodes or self.is_draining or seconds is None:
            return
        wanted = timedelta(minutes=self.trouble.dice.randint(1, 3000))
        self.jobs.append(Job(self.clock() + min(wanted, timedelta(seconds=seconds))))

    def running(self) -> int:
        """Jobs that run at this moment."""
        self.jobs = [job for job in self.jobs if job.ends_at > self.clock()]
        return len(self.jobs)

    def _called(self, what: str) -> None:
        self.calls.append((self.clock(), what))
        self.trouble.maybe_crash()


@dataclass
class FakePeople:
    """``told`` by key: a message that is sent twice is the same message."""

    trouble: Trouble
    told: dict[str, tuple[str, str]] = field(default_factory=dict)

    def tell(self, key: str, subject: str, body: str) -> None:
        self.told[key] = (subject, body)
        self.trouble.maybe_crash()


class NoUsage:
    """Nothing was measured."""

    def minutes(self, fleet: str, start: datetime, end: datetime) -> Iterable[NodeMinutes]:
        return ()


@dataclass
class Simulated:
    """The parts, and the clock that they share."""

    trouble: Trouble
    now: datetime = BEGIN

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.trouble)
        self.market = FakeMarket(self.trouble, lambda: self.now)
        self.fleets = FakeFleets(self.trouble, lambda: self.now)
        self.people = FakePeople(self.trouble)
        parts: dict[str, Any] = {
            "requests": self.store, "market": self.market, "fleets": self.fleets, "tickets": self.people,
            "usage": NoUsage(),
        }  # fmt: skip
        self.aws = Dependencies(**parts, approvers=frozenset({APPROVER}), deployed={FLEET: DEPLOYED})


def request(start: datetime, hours: int, request_id: str = "r1") -> Request:
    """Somebody asks for two trn2 instances from ``start``."""
    offering = Offering("cbo-1", "trn2.48xlarge", 2, "us-east-2a", start, start + timedelta(hours=hours), 1700.0)
    return Request(request_id, FLEET, offering, REQUESTER, BEGIN)
