"""What an Auto Scaling group lacks: what the fleet wants, less what is in service, less what is on its way."""

from datetime import datetime, timedelta
from typing import Final

from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import Activity, ScalingGroup, Seen
from fleet.reserved.place import Place
from fleet.reserved.reservation_state import GRACE, was_just_deployed
from fleet.reserved.shortage import NOTHING, Shortage, one_line

# The instance exists and serves, or is kept out of service by somebody: no capacity is missing for it.
_THERE: Final = frozenset({"InService", "Standby", "EnteringStandby"})
# Auto Scaling tries again after each failure, at growing intervals.
_STILL_TRUE: Final = timedelta(hours=1)


def group_shortage(place: Place, seen: Seen, now: datetime) -> Shortage:
    """What ``place`` lacks by what Auto Scaling showed; the reason is that of the newest launch that failed."""
    group = seen.group
    if group is None:
        return NOTHING
    # The group is asked for its nodes after the deployment, and by somebody else. A pool that is paid for by the second
    # wants what its jobs want, an endpoint that scales what its load wants, and no reservation is no reason to ask for
    # nodes.
    is_whole = place.is_pool or place.scales or was_just_deployed(place, now)
    wanted = group.desired if is_whole else max(group.desired, place.nodes)
    there = sum(1 for member in group.members if member.state in _THERE)
    missing = wanted - there - _on_the_way(group, seen, now)
    if missing <= 0:
        return NOTHING
    failed = _failed(group, now)
    if failed is not None:
        return Shortage(missing, f"Auto Scaling says: {one_line(failed.words)}", _advice(place))
    return Shortage(
        missing,
        f"{there} of {wanted} nodes are in service, Auto Scaling wants {group.desired} and gives no reason",
        "look at the group's activities and at the nodes that do not come into service",
    )


def _on_the_way(group: ScalingGroup, seen: Seen, now: datetime) -> int:
    # EC2's launch time: Auto Scaling does not say since when a member is pending.
    launched = {node.instance_id: node.launched_at for node in seen.nodes}
    booting = sum(
        1
        for member in group.members
        if member.state.startswith("Pending")
        and member.instance_id in launched
        and now - launched[member.instance_id] < GRACE
    )
    if _failed(group, now) is not None:
        # The next attempt has begun and most likely fails too: counted as hope, the figure would come and go with it.
        return booting
    begun = sum(1 for launch in group.launches if not launch.is_over and now - launch.started_at < GRACE)
    return max(booting, begun)


def _failed(group: ScalingGroup, now: datetime) -> Activity | None:
    # Not only the last one: of several nodes that were launched together some may have failed.
    return next(
        (each for each in group.launches if each.has_failed and now - each.started_at < _STILL_TRUE),
        None,
    )


def _advice(place: Place) -> str:
    if place.market is MarketKind.SPOT:
        more = ", or name alternative_types," if place.is_pool else ","
        return f"wait for Spot capacity{more} or buy on demand: market: {{kind: on-demand}}"
    return "wait, or add a zone that offers the type, or reserve the capacity: market: {kind: reservation}"
