"""What a fleet lacks of the capacity that was reserved for it, and why.

An instance that targets a group of reservations and finds none runs on demand, and moves into a matching reservation
that is added later (EC2 User Guide, "Capacity Reservation groups"). So a node that runs beside the reservation is a
node that the fleet has, and is not missing.
"""

from datetime import datetime

from fleet.reserved.observed import FleetDeployment, Reservation, Seen
from fleet.reserved.reservation_state import AHEAD, GRACE, Standing, fits, standing, was_just_deployed
from fleet.reserved.shortage import NOTHING, Shortage, demand, one_line


def reservation_shortage(place: FleetDeployment, seen: Seen, now: datetime) -> Shortage:
    """What ``place`` lacks of its reservations; a remark where it lacks nothing and people should know something."""
    if not place.is_reserved:
        return NOTHING
    usable = [r for r in seen.reservations if fits(r, place) and standing(r, now) is Standing.USABLE]
    outside = nodes_outside(seen)
    lacking = place.nodes - sum(r.total for r in usable) - outside
    if lacking <= 0:
        return _beside(usable, outside)
    newest_first = sorted(seen.reservations, key=_age, reverse=True)
    ahead = [r for r in newest_first if fits(r, place) and standing(r, now) in AHEAD]
    lacking -= sum(r.total for r in ahead)
    if lacking <= 0:
        return _ahead(ahead[0], now)
    if usable or ahead:
        return _smaller(place, seen, sum(r.total for r in (*usable, *ahead)), lacking, now)
    if newest_first:
        return _unusable(place, seen, newest_first, lacking, now)
    return _absent(place, seen, lacking, now)


def nodes_outside(seen: Seen) -> int:
    """Nodes that run in none of the fleet's reservations."""
    own = {reservation.reservation_id for reservation in seen.reservations}
    return sum(1 for node in seen.nodes if node.reservation_id not in own)


def _beside(usable: list[Reservation], outside: int) -> Shortage:
    idle = sum(r.available for r in usable)
    if not outside or not idle:
        return NOTHING
    return Shortage(
        0,
        f"{outside} nodes run outside the reservation while {idle} reserved instances are idle: both are paid for",
        "check that the nodes' launch template targets the reservation, its zone and its placement group, and replace "
        "the nodes outside it",
    )


def _ahead(reservation: Reservation, now: datetime) -> Shortage:
    # Bought or asked for on purpose: nobody can have it sooner.
    name = _name(reservation)
    if reservation.starts_at is None or reservation.starts_at <= now:
        return Shortage(0, f"{name} is {reservation.state}, and should be there within minutes")
    unpaid = "see that its payment goes through" if reservation.state == "payment-pending" else None
    return Shortage(0, f"{name} is {reservation.state} and starts at {_utc(reservation.starts_at)}", unpaid)


def _smaller(place: FleetDeployment, seen: Seen, total: int, lacking: int, now: datetime) -> Shortage:
    why = f": {one_line(seen.stack.failure)}" if seen.stack and seen.stack.failure else ""
    reason = f"the reservation holds {total} of the fleet's {place.nodes} nodes{why}"
    if place.reservation_stack:
        # Its stack is deployed after everything else.
        is_excused = not why and was_just_deployed(place, now)
        return Shortage(0, reason) if is_excused else Shortage(lacking, reason, _again(place))
    return Shortage(lacking, reason, "enlarge the reservation, or set the fleet's nodes to what it holds")


def _unusable(
    place: FleetDeployment, seen: Seen, newest_first: list[Reservation], lacking: int, now: datetime
) -> Shortage:
    of_the_fleet = next((r for r in newest_first if fits(r, place)), None)
    if of_the_fleet is None:
        # Of its own there may be one of the type or zone that the fleet had before: its stack says what became of this.
        return (
            _absent(place, seen, lacking, now)
            if place.reservation_stack
            else _misplaced(place, newest_first[0], lacking)
        )
    name, state = _name(of_the_fleet), standing(of_the_fleet, now)
    if state is Standing.OVER:
        if place.reservation_stack and not _is_over(place, now):
            return _not_prolonged(place, seen, of_the_fleet, lacking, now)
        return _over(place, seen, of_the_fleet)
    if state is Standing.LATE:
        return Shortage(
            lacking,
            f"{name} is still {of_the_fleet.state}",
            "wait; ask AWS Support if it stays so" if place.is_block else f"wait, or {_again(place)}",
        )
    return Shortage(
        lacking, f"{name} is {of_the_fleet.state}", "buy another block" if place.is_block else _again(place)
    )


def _misplaced(place: FleetDeployment, stranger: Reservation, lacking: int) -> Shortage:
    wanted = f"{place.instance_type} in {place.zone}" if place.zone else place.instance_type
    return Shortage(
        lacking,
        f"{_name(stranger)} is for {stranger.instance_type} in {stranger.zone}, and the fleet needs {wanted}",
        "name a reservation of the fleet's type and zone, or change the fleet's zone or type to the reservation's",
    )


def _over(place: FleetDeployment, seen: Seen, reservation: Reservation) -> Shortage:
    # It ended as planned: something is missing only once somebody wants it. A scaling group says so itself.
    return Shortage(demand(place, seen), _ended(reservation), _next(place))


def _not_prolonged(
    place: FleetDeployment, seen: Seen, reservation: Reservation, lacking: int, now: datetime
) -> Shortage:
    failure = seen.stack.failure if seen.stack else ""
    why = f": {one_line(failure)}" if failure else ""
    reason = f"{_ended(reservation)}, and the fleet's file wants it for longer{why}"
    is_excused = not why and was_just_deployed(place, now)
    return Shortage(0, reason) if is_excused else Shortage(lacking, reason, _next(place))


def _ended(reservation: Reservation) -> str:
    return f"{_name(reservation)} ended{f' at {_utc(reservation.ends_at)}' if reservation.ends_at else ''}"


def _is_over(place: FleetDeployment, now: datetime) -> bool:
    return place.ends_at is not None and now >= place.ends_at


def _next(place: FleetDeployment) -> str:
    if place.is_block:
        return "buy the next block and deploy its reservation_id and ends_at, or take the fleet out of the file"
    if place.reservation_stack:
        # CloudFormation can prolong no reservation that has expired.
        return (
            f"delete stack {place.reservation_stack}, then deploy it with another end_date, or take the fleet out of "
            "the file"
        )
    return "deploy another reservation, or take the fleet out of the file"


def _absent(place: FleetDeployment, seen: Seen, lacking: int, now: datetime) -> Shortage:
    if place.ends_at is not None and _is_over(place, now):
        # EC2 stops to show what is long over.
        kind = "the Capacity Block" if place.is_block else "the reservation"
        return Shortage(demand(place, seen), f"{kind} ended at {_utc(place.ends_at)}", _next(place))
    if place.reservation_stack:
        return _not_created(place, seen, lacking, now)
    if place.resource_group:
        return Shortage(
            lacking,
            f"resource group {place.resource_group.rpartition('/')[2]} holds no reservation",
            "add a reservation of the fleet's type to the group",
        )
    return Shortage(
        lacking,
        f"EC2 does not show {place.reservation_id} in this account and region",
        "check the fleet's reservation_id, its account and its region",
    )


def _not_created(place: FleetDeployment, seen: Seen, lacking: int, now: datetime) -> Shortage:
    stack = seen.stack
    if stack is None or not stack.exists:
        if was_just_deployed(place, now):
            return Shortage(0, f"stack {place.reservation_stack} is not deployed yet")
        return Shortage(lacking, f"stack {place.reservation_stack} is not deployed", _again(place))
    if stack.is_busy_since is not None and now - stack.is_busy_since < GRACE:
        return Shortage(0, f"stack {place.reservation_stack} is being deployed")
    if stack.failure:
        return Shortage(lacking, f"the reservation could not be made: {one_line(stack.failure)}", _again(place))
    return Shortage(lacking, f"stack {place.reservation_stack} has made no reservation", _again(place))


def _again(place: FleetDeployment) -> str:
    if place.reservation_stack is None:
        return "name another reservation"
    where = f" in {place.zone}" if place.zone else ""
    return (
        f"deploy stack {place.reservation_stack} again; if EC2 has no capacity{where}, try fewer nodes, another zone "
        "or a Capacity Block"
    )


def _name(reservation: Reservation) -> str:
    kind = "Capacity Block" if reservation.is_block else "reservation"
    return f"{kind} {reservation.reservation_id}"


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _age(reservation: Reservation) -> float:
    since = reservation.created_at or reservation.starts_at
    return since.timestamp() if since else 0.0
