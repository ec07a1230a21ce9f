"""Is the reservation or the Capacity Block that a fleet is to launch into there, and does it fit?"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import FleetSpec, MarketKind

# A file is written by hand: a second or a time zone's rounding is no other end.
_SAME_END: Final = timedelta(minutes=1)
# EC2 API, CapacityReservation, State.
_OVER: Final = frozenset({"expired", "cancelled", "failed", "payment-failed", "unsupported"})
_LINUX: Final = "Linux/UNIX"
_DESCRIBE: Final = "aws ec2 describe-capacity-reservations"


@dataclass(frozen=True, slots=True)
class ReservationSeen:
    """One capacity reservation, as EC2 DescribeCapacityReservations shows it; a Capacity Block is one, too."""

    reservation_id: str
    state: str
    is_block: bool
    instance_type: str
    zone_id: str
    total: int
    available: int
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    is_targeted: bool = True
    placement_group: str | None = None
    """Its name: the last part of PlacementGroupArn."""
    platform: str = _LINUX
    tenancy: str = "default"
    environment: str | None = None
    fleet: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing will ever be launched into it again."""
        return self.state in _OVER


def not_created(spec: FleetSpec) -> Diagnostic:
    """The fleet's reservation stack stands, and its reservation is gone."""
    text = f"the reservation that was created for {spec.name} is not there any more"
    return refuse(
        "reservation-gone", "market.kind", spec.name, text, "delete its reservation stack and deploy it again"
    )


def not_found(spec: FleetSpec, reservation_id: str) -> Diagnostic:
    """The reservation that the file names is not in the account, or was forgotten after its end."""
    return refuse(
        "reservation-not-found",
        "market.reservation_id",
        reservation_id,
        f"the account has no capacity reservation {reservation_id} in {spec.region}",
        f"give one that it has: {_DESCRIBE} --region {spec.region}; EC2 forgets what has ended",
    )


def diagnose_reservation(
    spec: FleetSpec, seen: ReservationSeen, path: str, *, running: int = 0
) -> Iterator[Diagnostic]:
    """Everything that keeps ``spec`` from launching into ``seen``; ``running`` of its nodes are in it already."""
    yield from _is_alive(seen, path)
    yield from _is_of_the_kind(spec, seen, path)
    yield from _is_of_the_type(spec, seen, path)
    yield from _lies_in_the_zone(spec, seen, path)
    yield from _runs_linux(seen, path)
    yield from _lies_in_the_placement_group(spec, seen, path)
    # An ended one holds nothing, which is not the news.
    if not seen.is_over:
        yield from _is_large_enough(spec, seen, path, running)
        yield from _ends_when_the_file_says(spec, seen)


def _name(seen: ReservationSeen) -> str:
    return f"Capacity Block {seen.reservation_id}" if seen.is_block else f"reservation {seen.reservation_id}"


def _is_alive(seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    if seen.is_over:
        block = seen.is_block
        fix = "name the block that follows it, or remove the fleet" if block else "reserve again, and name that one"
        when = f", it ended on {seen.ends_at.isoformat()}" if seen.ends_at else ""
        code = "block-over" if block else "reservation-over"
        text = f"{_name(seen)} is {seen.state}{when}: no node can be launched from it"
        yield refuse(code, path, seen.reservation_id, text, fix)
    elif seen.state == "scheduled":
        when = f" on {seen.starts_at.isoformat()}" if seen.starts_at else ""
        text = f"{_name(seen)} starts{when}: until then the fleet has no nodes"
        yield note("reservation-not-started", path, seen.reservation_id, text)
    elif seen.state != "active":
        fix = f"wait until it is active: {_DESCRIBE} --capacity-reservation-ids {seen.reservation_id}"
        yield warn("reservation-not-ready", path, seen.reservation_id, f"{_name(seen)} is {seen.state}", fix)


def _is_of_the_kind(spec: FleetSpec, seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    # EC2 user guide: instances of a block are launched with MarketType capacity-block, and others without.
    wants_block = spec.market is MarketKind.CAPACITY_BLOCK
    if wants_block and not seen.is_block:
        text = f"{seen.reservation_id} is an on-demand reservation, and the market is capacity-block"
        yield refuse("not-a-capacity-block", path, seen.reservation_id, text, "use {kind: reservation}")
    elif seen.is_block and not wants_block:
        text = f"{seen.reservation_id} is a Capacity Block, and the market is {spec.market}"
        yield refuse("is-a-capacity-block", path, seen.reservation_id, text, "use {kind: capacity-block}, with ends_at")
    elif not seen.is_targeted and not seen.is_block:
        yield warn(
            "reservation-open",
            path,
            seen.reservation_id,
            f"{_name(seen)} is open: any matching instance of the account takes its capacity",
            "make one with --instance-match-criteria targeted",
        )


def _is_of_the_type(spec: FleetSpec, seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    if seen.instance_type != spec.instance_type:
        yield refuse(
            "reservation-of-other-type",
            path,
            seen.reservation_id,
            f"{_name(seen)} holds {seen.instance_type}, and the fleet is {spec.instance_type}",
            "name one of the fleet's type, or change instance_type",
        )


def _lies_in_the_zone(spec: FleetSpec, seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    if seen.zone_id and seen.zone_id not in spec.zone_ids:
        yield refuse(
            "reservation-in-other-zone",
            path,
            seen.reservation_id,
            f"{_name(seen)} lies in {seen.zone_id}, and the fleet in {', '.join(spec.zone_ids)}",
            f"move the fleet to the zone whose id is {seen.zone_id}, or name another reservation",
        )


def _runs_linux(seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    # EC2 user guide, Capacity Reservations: type, platform, zone and tenancy of an instance must match.
    for code, has, wanted in (
        ("reservation-of-other-platform", seen.platform, _LINUX),
        ("reservation-of-other-tenancy", seen.tenancy, "default"),
    ):
        if has != wanted:
            text = f"{_name(seen)} is for {has}, and nodes are {wanted}"
            yield refuse(code, path, seen.reservation_id, text, f"make one for {wanted}")


def _lies_in_the_placement_group(spec: FleetSpec, seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    # Of a reservation that is created with the fleet the templates decide, and of a block EC2.
    if not spec.reserved.exists or seen.is_block or seen.placement_group == spec.reserved.placement_group:
        return
    if seen.placement_group:
        text = f"{_name(seen)} was created in the placement group {seen.placement_group}, where nodes must be launched"
        fix = f"write placement_group: {seen.placement_group} beside it"
        yield refuse("reservation-in-placement-group", path, seen.reservation_id, text, fix)
    else:
        text = f"{_name(seen)} lies in no placement group, and nodes are launched in {spec.reserved.placement_group}"
        fix = "remove market.placement_group: launches answer InsufficientInstanceCapacity"
        yield refuse("reservation-not-in-placement-group", path, seen.reservation_id, text, fix)


def _is_large_enough(spec: FleetSpec, seen: ReservationSeen, path: str, running: int) -> Iterator[Diagnostic]:
    if seen.total < spec.nodes:
        yield refuse(
            "reservation-holds-too-few",
            path,
            seen.reservation_id,
            f"{_name(seen)} holds {seen.total} instances, and the fleet has {spec.nodes} nodes",
            f"ask for {seen.total} nodes, or enlarge it",
        )
    elif seen.state == "active" and seen.available + running < spec.nodes:
        yield warn(
            "reservation-used-by-others",
            path,
            seen.reservation_id,
            f"{seen.available} of {seen.total} instances of {_name(seen)} are free and {running} run nodes of the "
            f"fleet, which has {spec.nodes}",
            "see what else runs in it: aws ec2 get-capacity-reservation-usage --capacity-reservation-id "
            f"{seen.reservation_id}",
        )


def _ends_when_the_file_says(spec: FleetSpec, seen: ReservationSeen) -> Iterator[Diagnostic]:
    if spec.market is not MarketKind.CAPACITY_BLOCK or seen.ends_at is None or spec.reserved.ends_at is None:
        return
    if abs(seen.ends_at - spec.reserved.ends_at) > _SAME_END:
        yield warn(
            "reservation-end-differs",
            "market.ends_at",
            spec.reserved.ends_at.isoformat(),
            f"{_name(seen)} ends on {seen.ends_at.isoformat()}",
            f"write ends_at: {seen.ends_at.isoformat()}",
        )
