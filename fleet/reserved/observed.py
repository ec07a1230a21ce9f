"""What one fleet wants, as it was deployed, and what AWS showed of it at one moment. Times are UTC."""

from dataclasses import dataclass
from datetime import datetime

from fleet.fleet_spec import MarketKind
from fleet.instances import Price

_RESERVED = frozenset({MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK})


@dataclass(frozen=True, slots=True)
class FleetDeployment:
    """One fleet. Fleets on AWS Batch have a compute environment and a queue, all others an Auto Scaling group."""

    environment: str
    fleet: str
    owner: str
    instance_type: str
    region: str
    market: MarketKind
    nodes: int
    vcpus: int
    """Of one node."""
    reservation_id: str | None = None
    """The existing reservation or Capacity Block that nodes are launched into."""
    resource_group: str | None = None
    """ARN of the existing group of reservations that nodes are launched into."""
    own_group: str | None = None
    """Name of the group that was made for the reservations that are made with the fleet."""
    reservation_stack: str | None = None
    """The CloudFormation stack of the reservation that is made with the fleet."""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    """As the environment file says; what EC2 says goes before it."""
    price: Price | None = None
    """The fleet's negotiated rate; None: as it is published."""
    zone: str | None = None
    """The one zone of a training fleet, by its name in the account."""
    compute_environment: str | None = None
    queue: str | None = None
    auto_scaling_group: str | None = None
    is_pool: bool = False
    """Whether its group trains, and is as large as its jobs, or its reservation, want."""
    scales: bool = False
    """Whether its group is as large as the load of its endpoint wants."""
    has_warm_pool: bool = False
    """Whether nodes that are stopped, or are made ready for it, lie beside its group."""
    deployed_at: datetime | None = None
    """When this was deployed last: what it wants may have changed then, and the deployment may not be through."""

    @property
    def is_reserved(self) -> bool:
        """Whether its capacity was promised, rather than there or not when it is asked for."""
        return self.market in _RESERVED

    @property
    def trains(self) -> bool:
        """Whether jobs come and go on it, rather than requests."""
        return self.is_pool or self.compute_environment is not None

    @property
    def is_block(self) -> bool:
        """Whether its capacity is a Capacity Block."""
        return self.market is MarketKind.CAPACITY_BLOCK


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
