"""What the watch needs of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fleet.reserved.observed import Batch, Node, Place, Reservation, ScalingGroup, Stack


class Reservations(Protocol):
    """EC2's reservations, and the groups that make nodes find them."""

    def of(self, place: Place) -> tuple[Reservation, ...]:
        """Every reservation that the fleet is launched into or was to be, in whatever state."""
        ...

    def made_in(self, environment: str) -> tuple[tuple[str, Reservation], ...]:
        """Every reservation with the tags of ``environment``, each with the name of the fleet that it was made for."""
        ...

    def join(self, place: Place, reservations: Sequence[Reservation]) -> None:
        """Put into the fleet's own group whichever of ``reservations`` are not in it."""
        ...


class Nodes(Protocol):
    """EC2's instances, known by their tags."""

    def of(self, place: Place) -> tuple[Node, ...]:
        """The fleet's instances that are pending or running."""
        ...

    def fleet_of(self, instance_id: str) -> tuple[str, str] | None:
        """The environment and the fleet that an instance is tagged with; None when it is nobody's of ours."""
        ...


class Batches(Protocol):
    """AWS Batch."""

    def of(self, place: Place) -> Batch:
        """The fleet's compute environment, and what waits in its queue."""
        ...

    def keep(self, place: Place, vcpus: int) -> None:
        """Make ``vcpus`` the least that the compute environment keeps."""
        ...


class Groups(Protocol):
    """EC2 Auto Scaling."""

    def of(self, place: Place) -> ScalingGroup:
        """The fleet's group with its launches."""
        ...

    def waiting(self, place: Place) -> frozenset[str]:
        """Ids of the instances in the group's warm pool, stopped or on their way there."""
        ...

    def keep(self, place: Place, nodes: int) -> None:
        """Make the group want ``nodes``."""
        ...


class Stacks(Protocol):
    """CloudFormation."""

    def of(self, place: Place) -> Stack:
        """What became of the stack that makes the fleet's reservation."""
        ...


class Deployments(Protocol):
    """CloudFormation's operations."""

    def of(self, environment: str, now: datetime) -> tuple[str, ...]:
        """Names of the environment's stacks that are being changed."""
        ...


class Heartbeats(Protocol):
    """What the agents say of themselves."""

    def of(self, place: Place, now: datetime) -> int:
        """How many of the fleet's agents were heard lately."""
        ...


class Paces(Protocol):
    """What the agents say of the cores of each job."""

    def of(self, place: Place, now: datetime) -> float | None:
        """Points of utilization that some core is behind its own job's median; None where none is far behind."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. Each call may raise what botocore raises, and LookupError for what ought to be there and is not."""

    reservations: Reservations
    nodes: Nodes
    batches: Batches
    groups: Groups
    stacks: Stacks
    deployments: Deployments
    heartbeats: Heartbeats
    paces: Paces
