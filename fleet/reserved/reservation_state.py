"""What a reservation's state means for the fleet that is to be launched into it.

The states are those of EC2's API reference, CapacityReservation, ``State``. ``unavailable`` is listed there without an
explanation; like a state that EC2 may add, it is taken for a reservation that nothing can be launched into.
"""

from datetime import datetime, timedelta
from typing import Final

from fleet.blocks.life import JOBS_END
from fleet.reserved.observed import FleetDeployment, Reservation, Seen
from fleet.string_enum import StringEnum

# How long something may be on its way before it counts as missing: a node boots, EC2 provides a reservation.
GRACE: Final = timedelta(minutes=15)
_BEFORE_START: Final = frozenset({"scheduled", "payment-pending", "assessing"})


class Standing(StringEnum):
    """COMING: its start lies ahead. ARRIVING: it should be there any minute. LATE: it should be there, and is not.

    OVER: it has ended as planned. GONE: it will not come, or not come back.
    """

    USABLE = "usable"
    COMING = "coming"
    ARRIVING = "arriving"
    LATE = "late"
    OVER = "over"
    GONE = "gone"


# Bought or asked for, and not there yet.
AHEAD: Final = frozenset({Standing.COMING, Standing.ARRIVING})


def standing(reservation: Reservation, now: datetime) -> Standing:
    """Where ``reservation`` stands at ``now``."""
    if reservation.state == "active":
        is_over = reservation.ends_at is not None and now >= reservation.ends_at
        return Standing.OVER if is_over else Standing.USABLE
    if reservation.state == "expired":
        return Standing.OVER
    if reservation.state == "delayed":
        return Standing.LATE
    if reservation.state == "pending":
        return _arriving(reservation.created_at, now)
    if reservation.state in _BEFORE_START:
        start = reservation.starts_at
        return Standing.COMING if start is None or now < start else _arriving(start, now)
    return Standing.GONE


def fits(reservation: Reservation, place: FleetDeployment) -> bool:
    """Whether nodes of the fleet can be launched into it at all: its type, and a training fleet's zone."""
    return reservation.instance_type == place.instance_type and place.zone in (None, reservation.zone)


def takes_work(reservation: Reservation, now: datetime) -> bool:
    """Whether what lies idle in it could be used: a block's last minutes are for letting go of its nodes."""
    return not (reservation.is_block and reservation.ends_at is not None and now >= reservation.ends_at - JOBS_END)


def is_awaited(place: FleetDeployment, seen: Seen, now: datetime) -> bool:
    """Whether the fleet's reservation is on its way, or has come so lately that its nodes are still to be launched.

    Whoever submits a job for a Capacity Block before its start hears from Batch that there is no capacity, and that is
    so by plan.
    """
    fitting = [each for each in seen.reservations if fits(each, place)]
    usable = [each for each in fitting if standing(each, now) is Standing.USABLE]
    settled = [each for each in usable if not _has_just_begun(each, now)]
    if sum(each.total for each in settled) >= place.nodes:
        return False
    return len(settled) < len(usable) or any(standing(each, now) in AHEAD for each in fitting)


def _has_just_begun(reservation: Reservation, now: datetime) -> bool:
    begun = reservation.starts_at or reservation.created_at
    return begun is not None and now - begun < GRACE


def was_just_deployed(place: FleetDeployment, now: datetime) -> bool:
    """Whether what the fleet wants may be so new that AWS has not been asked for it yet."""
    return place.deployed_at is not None and now - place.deployed_at < GRACE


def _arriving(since: datetime | None, now: datetime) -> Standing:
    return Standing.ARRIVING if since is not None and now - since < GRACE else Standing.LATE
