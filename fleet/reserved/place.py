"""What a fleet wants and where it is launched, as it was deployed."""

from dataclasses import dataclass
from datetime import datetime

from fleet.fleet_spec import MarketKind
from fleet.instances import Price

_RESERVED = frozenset({MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK})


@dataclass(frozen=True, slots=True)
class Place:
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
