"""Availability Zone ids: which region they are of, and which of them offer an instance type."""

from fleet.fleet_spec import FleetSpec
from fleet.instances import InstanceType


def zone_id_prefix(region: str) -> str:
    """How the ids of a region's Availability Zones start: ``use2-az`` in us-east-2, ``apse1-az`` in ap-southeast-1.

    Source: AWS RAM user guide, "Availability Zone IDs for your AWS resources".
    """
    *area, direction, number = region.split("-")
    for word in ("north", "south", "east", "west", "central"):
        direction = direction.replace(word, word[0])
    return f"{''.join(area).replace('gov', 'g')}{direction}{number}-az"


def offering_zones(spec: FleetSpec, known: InstanceType) -> tuple[str, ...]:
    """The zones of the fleet, by id and in its order, that offer the type."""
    return tuple(zone for zone in spec.zone_ids if zone in known.availability_zone_ids)
