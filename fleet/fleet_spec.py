"""What somebody asks for: one fleet of one instance type, as plain values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class MarketKind(StrEnum):
    """How capacity is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"


class Purpose(StrEnum):
    """Training fleets run jobs over many nodes in one zone; inference fleets serve from several zones."""

    TRAINING = "training"
    INFERENCE = "inference"


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
    availability_zone: str | None = None
    """The one zone of a training fleet, by its name in the account."""
    reservation_id: str | None = None
    """An existing reservation or Capacity Block; None where one is to be created, or for other markets."""
    ends_at: datetime | None = None
    efa: bool | None = None
    """Asked for, refused, or None: decided from the type and the number of nodes."""
    lnc: int | None = None
    devices_per_task: int | None = None
    """Accelerators that one task of an endpoint holds."""
    tasks: int | None = None
    """Tasks of an endpoint."""
