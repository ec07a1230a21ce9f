"""Does the placement group, asked for or refused, go with the market and the zones?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.network_interfaces import uses_efa
from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn


def block_is_in_no_group(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: a block's instances are placed close together by themselves, and a group is not needed.

    Launching into one answers InsufficientInstanceCapacity (AWS ParallelCluster, PlacementGroupCapacityType).
    """
    if case.is_block and case.spec.placement_group:
        yield refuse(
            "capacity-block-in-placement-group",
            "placement_group",
            "true",
            "a Capacity Block in a placement group answers InsufficientInstanceCapacity",
            "remove placement_group: the block is placed close together already",
        )


def reservation_is_in_its_own_group(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: capacity reservations in cluster placement groups are created inside the group.

    A new group holds none of an existing reservation (AWS ParallelCluster, PlacementGroupCapacityReservation).
    """
    if case.is_block:
        return
    if case.reserved.exists and case.spec.placement_group and not case.reserved.placement_group:
        yield refuse(
            "reservation-outside-placement-group",
            "placement_group",
            "true",
            "a new placement group holds no existing reservation: launches answer InsufficientInstanceCapacity",
            "give market.placement_group, the group that the reservation was created in, or remove placement_group",
        )
    if case.reserved.placement_group and not case.reserved.exists:
        yield refuse(
            "placement-group-of-no-reservation",
            "market.placement_group",
            case.reserved.placement_group,
            "market.placement_group is where an existing reservation lies, and none is given",
            "give reservation_id or resource_group, or remove market.placement_group",
        )
    if case.reserved.placement_group and case.spec.placement_group is False:
        yield refuse(
            "placement-group-contradiction",
            "placement_group",
            "false",
            f"the reservation lies in {case.reserved.placement_group}, and can be used from within it only",
            "remove placement_group, or market.placement_group if the reservation lies in none",
        )


def group_lies_in_one_zone(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: a cluster placement group cannot span Availability Zones."""
    wanted = case.spec.placement_group or case.reserved.placement_group
    if wanted and case.spans_zones:
        yield refuse(
            "placement-group-across-zones",
            "placement_group" if case.spec.placement_group else "market.placement_group",
            wanted,
            f"nodes lie in {', '.join(case.spec.zone_ids)}, and a cluster placement group lies in one zone",
            "remove placement_group",
        )


def group_has_members(case: Case) -> Iterator[Diagnostic]:
    """A group of one places nothing together."""
    if case.spec.placement_group and case.spec.nodes == 1 and not case.is_block:
        yield warn(
            "placement-group-for-one-node",
            "placement_group",
            "true",
            "a placement group for one node only makes its capacity harder to find",
            "remove placement_group",
        )


def efa_is_placed_close(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide recommends a cluster group for EFA; AWS Batch's asks for one for multi-node jobs."""
    refused = case.spec.placement_group is False and not case.is_block and not case.reserved.exists
    if refused and uses_efa(case.spec, case.known):
        yield warn(
            "efa-without-placement-group",
            "placement_group",
            "false",
            "nodes that talk over EFA may lie far apart",
            "remove placement_group: a cluster group is created, with the reservation inside it",
        )


RULES: Final[tuple[Rule, ...]] = (
    block_is_in_no_group,
    reservation_is_in_its_own_group,
    group_lies_in_one_zone,
    group_has_members,
    efa_is_placed_close,
)
