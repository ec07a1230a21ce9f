"""The regions of EC2, by which a mistyped one is known; the ids of their zones, and which of them offer a type.

Source: AWS General Reference, "Amazon EC2 service endpoints", and the partitions of the AWS SDKs, November 2026. A test
holds the list against the SDK that is installed.
"""

from typing import Final

from fleet.fleet_spec import FleetSpec
from fleet.instances import InstanceType

REGIONS: Final = frozenset((
    "af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
    "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5",
    "ap-southeast-6", "ap-southeast-7", "ca-central-1", "ca-west-1", "cn-north-1", "cn-northwest-1", "eu-central-1",
    "eu-central-2", "eu-isoe-west-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3",
    "eusc-de-east-1", "il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1", "us-east-1",
    "us-east-2", "us-gov-east-1", "us-gov-west-1", "us-iso-east-1", "us-iso-west-1", "us-isob-east-1",
    "us-isob-west-1", "us-isof-east-1", "us-isof-south-1", "us-west-1", "us-west-2",
))  # fmt: skip


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
