"""What the service needs of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from fleet.blocks.life import Block, Step
from fleet.blocks.offering import Offering, Search
from fleet.blocks.post_mortem import NodeMinutes
from fleet.blocks.purchase import Request


class ConflictError(Exception):
    """Somebody else stored the record since it was read."""


class PurchaseRefusedError(Exception):
    """EC2 said no: nothing was bought. The message is EC2's."""


class PurchaseUnansweredError(Exception):
    """No answer, or one that does not say what happened: something may have been bought."""


class UsageError(Exception):
    """What the agents measured cannot be read now."""


@dataclass(frozen=True, slots=True)
class Record:
    """A request as it is stored. ``done`` are keys of ``fleet.blocks.life.key``; ``version`` counts its changes."""

    request: Request
    done: frozenset[str] = frozenset()
    version: int = 0

    @property
    def is_accounted(self) -> bool:
        """Whether its block is over and accounted for: nothing is left to do."""
        return any(step.startswith(f"{Step.POST_MORTEM}@") for step in self.done)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fleet's jobs run, as deployed: ARNs in Batch, and the block that its nodes are launched into."""

    compute_environment: str
    queue: str
    vcpus: int
    """Of one node."""
    instance_type: str
    availability_zone: str
    reservation_id: str | None = None


class Store(Protocol):
    """The requests of one environment."""

    def open(self) -> Iterable[Record]:
        """Every record that may still need something."""
        ...

    def read(self, request_id: str) -> Record | None:
        """One record."""
        ...

    def write(self, record: Record) -> Record:
        """Store ``record`` over the version it was read as; the stored one, with its new version.

        Raises:
            ConflictError: the stored version is another one.
        """
        ...


class Market(Protocol):
    """EC2, as far as blocks are bought and seen there."""

    def purchase(self, request: Request) -> str:
        """Buy the offer, tagged with the request's id; the reservation's id.

        Raises:
            PurchaseRefusedError: nothing was bought.
            PurchaseUnansweredError: it is not known.
        """
        ...

    def find(self, request_id: str) -> str | None:
        """The reservation that carries the request's tag."""
        ...

    def block(self, reservation_id: str, fleet: str) -> Block | None:
        """The block as it is now; None when EC2 does not show it."""
        ...

    def offering(self, search: Search, offering_id: str) -> Offering | None:
        """The offer as EC2 describes it now; None when it is gone."""
        ...

    def extensions(self, reservation_id: str) -> tuple[Offering, ...]:
        """What EC2 offers to extend it by; buying one is a request of its own."""
        ...

    def extended(self, reservation_id: str) -> tuple[Offering, ...]:
        """The extensions that were paid for, whoever bought them."""
        ...


class Fleets(Protocol):
    """What a fleet can be told. Each may be told twice."""

    def scale(self, fleet: str, nodes: int) -> None:
        """Keep that many nodes."""
        ...

    def checkpoint(self, fleet: str, ends_at: datetime) -> None:
        """Ask its jobs to write a checkpoint."""
        ...

    def drain(self, fleet: str) -> None:
        """Start no more jobs there, and ask the running ones to end."""
        ...

    def stop(self, fleet: str) -> bool:
        """End whatever still runs, and start nothing more; whether nothing ran."""
        ...


class People(Protocol):
    """Where tickets and reports go."""

    def tell(self, key: str, subject: str, body: str) -> None:
        """Say it once by ``key``."""
        ...


class Usage(Protocol):
    """What the agents measured."""

    def minutes(self, fleet: str, start: datetime, end: datetime) -> Iterable[NodeMinutes]:
        """One entry for each node that reported in that time.

        Raises:
            UsageError: it cannot be read now.
        """
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. ``approvers`` are the IAM ARNs that may approve purchases, as deployed.

    ``places`` are the fleets that are launched into Capacity Blocks, by name. A fleet is touched for the block that its
    place names, and for no other: a block that was bought for later must not undo the end of the one before it.
    """

    store: Store
    market: Market
    fleets: Fleets
    people: People
    usage: Usage
    approvers: frozenset[str]
    places: Mapping[str, Place] = field(default_factory=dict)
