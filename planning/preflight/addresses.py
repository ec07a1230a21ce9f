"""Have the subnets of the deployed network addresses left for the nodes that are still to come?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet.capacity import LaunchPlan
from fleet.diagnostics import Diagnostic, refuse


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
