"""What somebody asks for: one fleet of one instance type, as plain values."""

from dataclasses import dataclass
from datetime import datetime

from fleet.instances import Price
from fleet.neuron_software import Framework
from fleet.string_enum import StringEnum


class MarketKind(StringEnum):
    """How capacity is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"


class Purpose(StringEnum):
    """Training fleets run jobs over many nodes in one zone; inference fleets serve from several zones."""

    TRAINING = "training"
    INFERENCE = "inference"


class Engine(StringEnum):
    """What launches a training fleet's nodes and runs its jobs: AWS Batch, or the platform's own Auto Scaling group."""

    BATCH = "batch"
    POOL = "pool"


class EfaLayout(StringEnum):
    """How the network cards of an EFA node are filled; ``fleet.capacity.network_interfaces`` has both."""

    EFA = "efa"
    EFA_ONLY = "efa-only"


@dataclass(frozen=True, slots=True)
class Reserved:
    """What is known of reserved capacity: an on-demand reservation, or a Capacity Block. All None: nothing is."""

    reservation_id: str | None = None
    """Of an existing one. Without it, and without a resource group, a reservation is created with the fleet."""
    resource_group: str | None = None
    """ARN of a group of reservations to launch into, instead of one by its id."""
    placement_group: str | None = None
    """Name of the placement group that an existing reservation lies in."""
    instances: int | None = None
    """How many instances it holds; None: as many as the fleet has nodes, as far as anybody said."""
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    @property
    def exists(self) -> bool:
        """Whether it is there already, rather than created with the fleet."""
        return self.reservation_id is not None or self.resource_group is not None


@dataclass(frozen=True, slots=True)
class Software:
    """What nodes run, as far as it is stated; a rule about something that nobody stated is silent."""

    neuron_sdk: str | None = None
    """Neuron SDK of the container: ``2.28``."""
    framework: Framework | None = None
    container_image: str = ""
    machine_image: str = ""
    """SSM parameter that holds the machine image."""
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class FleetSpec:
    """One fleet. ``zone_ids`` are zone ids (use2-az3), not names: offerings are published by id."""

    name: str
    purpose: Purpose
    instance_type: str
    nodes: int
    region: str
    zone_ids: tuple[str, ...]
    market: MarketKind
    engine: Engine = Engine.BATCH
    """Of a training fleet; an endpoint has none of these."""
    availability_zone: str | None = None
    """The one zone of a training fleet, by its name in the account."""
    reserved: Reserved = Reserved()
    placement_group: bool | None = None
    """Asked for, refused, or None: decided from the market, the purpose and the number of nodes."""
    efa: bool | None = None
    """Asked for, refused, or None: decided from the type and the number of nodes."""
    efa_layout: EfaLayout = EfaLayout.EFA
    lnc: int | None = None
    software: Software = Software()
    devices_per_task: int | None = None
    """Accelerators that the one task on each node of an endpoint holds."""
    fallback_zone_ids: tuple[str, ...] = ()
    """Zones to try, in order, when ``zone_ids`` have no capacity."""
    alternative_types: tuple[str, ...] = ()
    """Instance types to try, in order, when no zone has capacity of the fleet's own."""
    price: Price | None = None
    """What an hour of a node costs this fleet: a negotiated rate, or a price that AWS was asked for. None: as the
    embedded catalogue says."""

    @property
    def is_batch(self) -> bool:
        """Whether AWS Batch launches its nodes."""
        return self.purpose is Purpose.TRAINING and self.engine is Engine.BATCH

    @property
    def spans_zones(self) -> bool:
        """Whether its nodes may lie in more than one zone."""
        return len(self.zone_ids) > 1
