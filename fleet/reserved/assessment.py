"""What is said of a fleet's capacity each minute.

That includes nodes that EC2 shows and no agent speaks for, which no metric of the agents themselves can show.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median_low
from typing import Final

from fleet.instances import Price, UnknownInstanceTypeError, instance_type
from fleet.prices import price_for
from fleet.prices.age import staleness
from fleet.prices.wording import UNKNOWN
from fleet.reserved.observed import FleetDeployment, Node, Reservation, Seen
from fleet.reserved.reservation_shortage import reservation_shortage
from fleet.reserved.reservation_state import Standing, fits, standing, takes_work
from fleet.reserved.shortage import batch_shortage, group_shortage, worst

# A node that boots, is checked and loads its image is silent too, for less than this.
SETTLED_AFTER: Final = timedelta(minutes=20)
HEARD_MINUTES: Final = 5


def agents_heard(heartbeats: Sequence[float]) -> int:
    """How many agents spoke, by the heartbeats of ``HEARD_MINUTES`` minutes; a minute without any is not in it.

    The median: a batch that was sent twice counts twice in its minute, and one that is very late does not count yet.
    """
    whole = [*map(int, heartbeats), *[0] * (HEARD_MINUTES - len(heartbeats))]
    return median_low(whole)


def silent_nodes(nodes: Sequence[Node], heard: int, now: datetime) -> int:
    """How many of ``nodes`` should speak and do not. Which of them, the nodes' events show."""
    settled = sum(now - node.launched_at >= SETTLED_AFTER for node in nodes)
    return max(0, settled - heard)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is not known, or has no meaning for the fleet's market, is None and never zero.

    ``present`` counts nodes that are pending or running, ``reserved`` what is paid for, ``unused`` what of it could be
    used and is not, ``missing`` the nodes that the fleet should be able to have and cannot get.
    ``unused_usd_per_hour`` is None without a known price; ``price`` is the one that it was counted at, None as well
    where types of several prices lie idle. ``price_stale`` says why the price of the fleet's own type is not to be
    relied on. ``silent`` counts nodes whose agent should speak and does not.
    """

    present: int
    missing: int
    reason: str | None
    action: str | None
    silent: int | None = None
    reserved: int | None = None
    used: int | None = None
    unused: int | None = None
    block_minutes_left: int | None = None
    ends_at: datetime | None = None
    price: Price | None = None
    price_stale: str | None = None
    unused_usd_per_hour: float | None = None


def assess(place: FleetDeployment, seen: Seen, now: datetime, refreshed: Iterable[Price] = ()) -> Assessment:
    """Compare what ``place`` wants with what was seen at ``now``; ``refreshed`` are newer prices of its type."""
    own = _own_price(place, refreshed)
    stale = UNKNOWN if own is None else staleness(own, now.date())
    lacks = worst(
        reservation_shortage(place, seen, now), batch_shortage(place, seen, now), group_shortage(place, seen, now)
    )
    present = len(seen.nodes)
    silent = None if seen.agents is None else silent_nodes(seen.nodes, seen.agents, now)
    if not place.is_reserved:
        return Assessment(present, lacks.nodes, lacks.reason, lacks.action, silent=silent, price=own, price_stale=stale)
    active = [r for r in seen.reservations if _is_the_fleets(r, place) and standing(r, now) is Standing.USABLE]
    idle = [r for r in active if takes_work(r, now) and r.available]
    # Mostly the fleet's type; another one lies idle when the fleet's file names the wrong reservation, or a new type.
    types = {r.instance_type for r in idle} or {place.instance_type}
    prices = {name: own if name == place.instance_type else _price(place, name) for name in types}
    return Assessment(
        present=present,
        missing=lacks.nodes,
        reason=lacks.reason,
        action=lacks.action,
        silent=silent,
        reserved=sum(r.total for r in active),
        used=sum(r.total - r.available for r in active),
        unused=sum(r.available for r in idle),
        block_minutes_left=_block_minutes_left(active, now),
        ends_at=_ends_at(place, active),
        price=next(iter(prices.values())) if len(prices) == 1 else None,
        price_stale=stale,
        unused_usd_per_hour=_usd_per_hour(idle, prices),
    )


def _own_price(place: FleetDeployment, refreshed: Iterable[Price]) -> Price | None:
    return place.price or _price(place, place.instance_type, refreshed)


def _price(place: FleetDeployment, type_name: str, refreshed: Iterable[Price] = ()) -> Price | None:
    try:
        return price_for(instance_type(type_name), place.region, place.market, refreshed)
    except UnknownInstanceTypeError:
        return None


def _usd_per_hour(idle: Iterable[Reservation], prices: Mapping[str, Price | None]) -> float | None:
    known = {name: price.usd_per_hour for name, price in prices.items() if price is not None}
    if len(known) < len(prices):
        return None
    return sum((r.available * known[r.instance_type] for r in idle), 0.0)


def _is_the_fleets(reservation: Reservation, place: FleetDeployment) -> bool:
    # Those of a group that somebody else made may be other fleets'.
    return place.resource_group is None or fits(reservation, place)


def vcpus_to_keep(place: FleetDeployment, seen: Seen, now: datetime) -> int | None:
    """vCPUs that the fleet's compute environment should keep; None where that is nobody's business here.

    Capacity that is paid for anyway is kept: to let go of it saves nothing, and every job would wait for its nodes to
    boot. Only for on-demand reservations of Batch fleets: Capacity Blocks have an engine of their own. An environment
    that Batch changes at this moment, or that somebody closed, is left alone.
    """
    batch = seen.batch
    if batch is None or not place.is_reserved or place.is_block:
        return None
    usable = [r for r in seen.reservations if fits(r, place) and standing(r, now) is Standing.USABLE]
    keep = min(min(place.nodes, sum(r.total for r in usable)) * place.vcpus, batch.maximum_vcpus)
    is_closed = batch.state != "ENABLED" and keep > batch.minimum_vcpus
    return None if batch.status != "VALID" or is_closed or keep == batch.minimum_vcpus else keep


def nodes_to_keep(place: FleetDeployment, seen: Seen, now: datetime) -> int | None:
    """Nodes that a pool's group should want because they are paid for anyway; None where nothing is to be done.

    Never fewer than it wants: nodes that jobs hold are ended by nobody but the pool's controller.
    """
    group = seen.group
    if group is None or not place.is_pool or not place.is_reserved:
        return None
    usable = [r for r in seen.reservations if fits(r, place) and standing(r, now) is Standing.USABLE]
    keep = min(place.nodes, sum(r.total for r in usable))
    return keep if keep > group.desired else None


def _block_minutes_left(active: list[Reservation], now: datetime) -> int | None:
    ends = [r.ends_at for r in active if r.is_block and r.ends_at is not None]
    return (min(ends) - now) // timedelta(minutes=1) if ends else None


def _ends_at(place: FleetDeployment, active: list[Reservation]) -> datetime | None:
    return min((r.ends_at for r in active if r.ends_at is not None), default=place.ends_at)
