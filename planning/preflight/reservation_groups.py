"""Is the resource group that a fleet is to launch into a pool of capacity reservations, and are there any in it?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import FleetSpec, MarketKind
from planning.preflight.reservations import ReservationSeen, diagnose_reservation

POOL: Final = "AWS::EC2::CapacityReservationPool"
PATH: Final = "market.resource_group"


@dataclass(frozen=True, slots=True)
class ReservationGroupSeen:
    """A resource group: the types of its configuration, and the ids of the reservations in it."""

    configuration: tuple[str, ...]
    members: tuple[str, ...]


def diagnose_group(
    spec: FleetSpec, group: ReservationGroupSeen | None, members: Sequence[ReservationSeen]
) -> Iterator[Diagnostic]:
    """Findings about the group that ``spec`` names; ``members`` are those of its reservations that the account shows.

    EC2 user guide, Capacity Reservation groups: the group is a service-linked one of type CapacityReservationPool, and
    an instance that finds nothing in it runs on-demand.
    """
    named = spec.reserved.resource_group or ""
    if group is None:
        fix = "create it, or give the ARN of one that exists: aws resource-groups list-groups"
        yield refuse("group-not-found", PATH, named, f"the account has no resource group {named}", fix)
    elif POOL not in group.configuration:
        text = f"{named} is not a {POOL}: no instance can be launched into it"
        yield refuse("group-not-a-pool", PATH, named, text, f"create a group whose configuration has the type {POOL}")
    elif not group.members:
        yield _empty(spec, named)
    else:
        for member in members:
            yield from _of_member(spec, member)
        held = sum(member.total for member in members if member.state == "active")
        if held < spec.nodes and any(member.state == "active" for member in members):
            text = f"the active reservations of {named} hold {held} instances, and the fleet has {spec.nodes} nodes"
            yield refuse("group-holds-too-few", PATH, named, text, f"ask for {held} nodes, or add reservations")


def _empty(spec: FleetSpec, named: str) -> Diagnostic:
    block = spec.market is MarketKind.CAPACITY_BLOCK
    instead = "no node can be launched" if block else "nodes are launched on demand, if there is capacity"
    fix = f"aws resource-groups group-resources --group {named} --resource-arns ARN_OF_THE_RESERVATION"
    return warn("group-empty", PATH, named, f"no reservation is in {named}: {instead}", fix)


def _of_member(spec: FleetSpec, member: ReservationSeen) -> Iterator[Diagnostic]:
    # Together they have to be large enough, and each may lie in its own placement group and end when it likes.
    spoken = ("reservation-holds-too-few", "reservation-used-by-others", "reservation-end-differs")
    for found in diagnose_reservation(spec, member, PATH):
        if found.code not in spoken and "placement-group" not in found.code:
            yield found
