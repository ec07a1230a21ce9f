"""Does the reserved capacity, of either kind, fit the fleet, and is it still there?"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn

ENDS_SOON: Final = timedelta(hours=24)


def is_named_once(case: Case) -> Iterator[Diagnostic]:
    """EC2 API, CapacityReservationTarget: a reservation's id or a resource group's ARN."""
    if case.reserved.reservation_id and case.reserved.resource_group:
        yield refuse(
            "reservation-named-twice",
            "market.resource_group",
            case.reserved.resource_group,
            "a launch template targets one reservation or one resource group, not both",
            "remove reservation_id or resource_group",
        )


def group_is_of_the_region(case: Case) -> Iterator[Diagnostic]:
    """A resource group is regional, and so is its ARN: arn:aws:resource-groups:REGION:ACCOUNT:group/NAME."""
    group = case.reserved.resource_group
    if group and group.split(":")[3:4] != [case.spec.region]:
        yield refuse(
            "resource-group-elsewhere",
            "market.resource_group",
            group,
            f"the resource group is not in {case.spec.region}",
            f"give the ARN of a group in {case.spec.region}",
        )


def is_large_enough(case: Case) -> Iterator[Diagnostic]:
    """Beyond a reservation that is named by its id a launch answers ReservationCapacityExceeded, and beyond one that is
    reached by a group it is not reserved after all; what is unused is billed.
    """
    held = case.reserved.instances
    if held is not None and held < case.spec.nodes:
        yield refuse(
            "reservation-too-small",
            "market.instances",
            held,
            f"{case.spec.nodes} nodes, but {held} instances are reserved",
            f"ask for {held} nodes, or reserve {case.spec.nodes} instances",
        )
    elif held is not None and held > case.spec.nodes:
        yield warn(
            "reservation-larger-than-fleet",
            "market.instances",
            held,
            f"{held} instances are reserved for {case.spec.nodes} nodes: {held - case.spec.nodes} are paid for unused",
            f"ask for {held} nodes",
        )


def lies_where_the_fleet_lies(case: Case) -> Iterator[Diagnostic]:
    """A reservation lies in one zone (EC2 CreateCapacityReservation); an inference fleet in several."""
    if case.is_training:
        return
    if case.creates_reservation:
        yield refuse(
            "reservation-across-zones",
            "market.kind",
            case.spec.market,
            "a reservation lies in one zone, and an inference fleet has none of its own to create one in",
            "create a reservation in each zone, put them into a resource group, and give resource_group",
        )
    elif case.reserved.reservation_id and case.spans_zones:
        yield warn(
            "reservation-in-one-zone",
            "market.reservation_id",
            case.reserved.reservation_id,
            "nodes are launched in several zones, and the reservation lies in one: launches in the others fail",
            "give a resource_group with a reservation in each zone, or one zone in network.availability_zones",
        )


def end_is_applied(case: Case) -> Iterator[Diagnostic]:
    """Only a reservation that is created here gets an end; an existing one has its own."""
    if not case.is_block and case.reserved.exists and case.reserved.ends_at:
        yield warn(
            "end-of-existing-reservation",
            "market.end_date",
            case.reserved.ends_at.isoformat(),
            "the end of an existing reservation is not changed from here",
            "set it where the reservation was made: aws ec2 modify-capacity-reservation --end-date",
        )


def has_not_ended(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: at its end a reservation expires, and instances of a block are terminated 30 minutes earlier."""
    ends = case.reserved.ends_at
    if ends is None or case.now is None:
        return
    kind, path = ("capacity-block", "market.ends_at") if case.is_block else ("reservation", "market.end_date")
    if ends <= case.now:
        yield warn(
            f"{kind}-ended",
            path,
            ends.isoformat(),
            f"it ended on {ends.isoformat()}: no node can be launched from it",
            "give the one that follows it, or remove the fleet",
        )
    elif ends - case.now <= ENDS_SOON:
        yield warn(
            f"{kind}-ends-soon",
            path,
            ends.isoformat(),
            f"it ends within {ENDS_SOON // timedelta(hours=1)} hours, on {ends.isoformat()}",
            "extend it, or let jobs write their last checkpoint before",
        )


RULES: Final[tuple[Rule, ...]] = (
    is_named_once,
    group_is_of_the_region,
    is_large_enough,
    lies_where_the_fleet_lies,
    end_is_applied,
    has_not_ended,
)
