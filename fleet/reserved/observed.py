"""What AWS showed of one fleet at one moment. Times are UTC."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Reservation:
    """An on-demand capacity reservation or a Capacity Block, as DescribeCapacityReservations has it."""

    reservation_id: str
    arn: str
    state: str
    instance_type: str
    zone: str
    total: int
    available: int
    """Instances that could still be launched into it."""
    is_block: bool = False
    created_at: datetime | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """An instance that is pending or running. ``reservation_id`` is the one it runs in, or None."""

    instance_id: str
    launched_at: datetime
    reservation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job that Batch shows as RUNNABLE, with Batch's words about why it does not start."""

    job_id: str
    nodes: int
    created_at: datetime
    words: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A fleet's compute environment, and the jobs that wait in its queue."""

    state: str
    status: str
    words: str
    """Batch's reason for ``status``."""
    minimum_vcpus: int
    desired_vcpus: int
    maximum_vcpus: int
    waiting: tuple[Job, ...] = ()


@dataclass(frozen=True, slots=True)
class Activity:
    """One launch by an Auto Scaling group. ``is_over`` is False while it is in progress."""

    started_at: datetime
    is_over: bool
    has_failed: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """An instance of an Auto Scaling group, and its state there."""

    instance_id: str
    state: str


@dataclass(frozen=True, slots=True)
class ScalingGroup:
    """An Auto Scaling group: how many it wants, what it has, its launches from the newest on."""

    desired: int
    members: tuple[Member, ...] = ()
    launches: tuple[Activity, ...] = ()


@dataclass(frozen=True, slots=True)
class Stack:
    """The stack of a reservation. ``failure`` is the newest reason that CloudFormation gave for the reservation."""

    exists: bool
    is_busy_since: datetime | None = None
    """When the operation began that is under way, if one is; a rollback is none."""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it; ``stack`` was looked at only where a reservation that it should make is lacking."""

    reservations: tuple[Reservation, ...] = ()
    nodes: tuple[Node, ...] = ()
    batch: Batch | None = None
    group: ScalingGroup | None = None
    stack: Stack | None = None
    agents: int | None = None
    """How many of the nodes' agents were heard lately; None when that could not be asked."""
