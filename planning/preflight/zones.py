"""Do the zone names of the file mean the same zones in the account?

Does EC2 offer the fleet's instance type where its nodes are to lie, today?

Have the subnets of the deployed network addresses left for the nodes that are still to come?
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet.capacity import LaunchPlan
from fleet.diagnostics import Diagnostic, refuse, warn


@dataclass(frozen=True, slots=True)
class ZoneSeen:
    """One Availability Zone, as EC2 DescribeAvailabilityZones shows it to the account."""

    name: str
    zone_id: str
    state: str


def diagnose_zones(wanted: Mapping[str, str], seen: Iterable[ZoneSeen]) -> Iterator[Diagnostic]:
    """Errors for names that the account does not have or that mean other zones; ``wanted`` is zone ids by name.

    AWS RAM user guide, "Availability Zone IDs for your AWS resources": names are mapped to zones for each account
    independently, ids are the same in all of them.
    """
    known = {zone.name: zone for zone in seen}
    names = {zone.zone_id: zone.name for zone in known.values()}
    for name, zone_id in wanted.items():
        path = f"network.availability_zones.{name}"
        zone = known.get(name)
        if zone is None:
            there = ", ".join(sorted(known)) or "none"
            yield refuse("zone-not-in-account", path, name, f"the account has no zone {name}", f"it has: {there}")
        elif zone.zone_id != zone_id:
            named = f", and {zone_id} is called {names[zone_id]}" if zone_id in names else ""
            yield refuse(
                "zone-id-differs",
                path,
                zone_id,
                f"in this account {name} is {zone.zone_id}{named}",
                f"write {name}: {zone.zone_id}, and check which zone each fleet asks for",
            )
        elif zone.state != "available":
            yield warn(
                "zone-impaired",
                path,
                name,
                f"EC2 calls the zone {zone.state}",
                "see the AWS Health dashboard before a deployment",
            )


def diagnose_offering(plan: LaunchPlan, offered: Collection[str]) -> Iterator[Diagnostic]:
    """Findings about the zones of ``plan``; ``offered`` are the ids of the zones that offer its type.

    EC2 DescribeInstanceTypeOfferings by availability-zone-id. The catalogue has the same with a date; a type may have
    left a zone since.
    """
    missing = [zone for zone in plan.zone_ids if zone not in offered]
    if not missing:
        return
    name = plan.instance_type.name
    where = f"EC2 offers it in {', '.join(sorted(offered))}" if offered else "EC2 offers it in no zone of the region"
    if len(missing) == len(plan.zone_ids):
        yield refuse(
            "not-offered-in-zone",
            "instance_type",
            name,
            f"EC2 does not offer {name} in {', '.join(missing)} to this account",
            f"{where}: move the fleet, or choose another type",
        )
    else:
        yield warn(
            "offered-in-fewer-zones",
            "instance_type",
            name,
            f"EC2 does not offer {name} in {', '.join(missing)} to this account: launches there fail",
            where,
        )


@dataclass(frozen=True, slots=True)
class NodesToCome:
    """How many nodes a fleet still lacks, and the names of the zones they may lie in."""

    plan: LaunchPlan
    nodes: int
    zones: tuple[str, ...]


def addresses_needed(fleets: Iterable[NodesToCome]) -> Counter[str]:
    """Private addresses by zone name, with nodes spread evenly over the zones of a fleet."""
    needed: Counter[str] = Counter()
    for fleet in fleets:
        for zone in fleet.zones:
            # The task on a node has an interface of its own: jobs and endpoints use network mode awsvpc.
            needed[zone] += -(-fleet.nodes // len(fleet.zones)) * (fleet.plan.addresses_per_node + 1)
    return needed


def diagnose_addresses(needed: Mapping[str, int], free: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Errors for zones whose node subnets have fewer ``free`` addresses than are ``needed``; both by zone name.

    EC2 DescribeSubnets, AvailableIpAddressCount: what is taken, by nodes that run too, is not in it.
    """
    for zone, count in needed.items():
        if count > free.get(zone, count):
            yield refuse(
                "subnet-without-addresses",
                f"network.availability_zones.{zone}",
                zone,
                f"the nodes still to come in {zone} need {count} addresses, and its subnet has {free[zone]} left",
                "release addresses there, or use efa_layout: efa-only or fewer nodes; a larger cidr is a new VPC",
            )
