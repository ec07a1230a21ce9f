"""What the nodes cost: by fleet, at the newest price of the way that they are bought.

What endpoints cost that SageMaker runs: instance-hours at SageMaker's price, whatever EC2's is.
"""

from datetime import date

from fleet.fleet_spec import MarketKind, Purpose
from fleet.prices.age import staleness
from planning.month.line import Group, Line, Spread
from planning.month.prices import HOURS, NotPriced
from planning.month.shape import FleetShape, HostedShape, Use


def hours_paid(fleet: FleetShape, use: Use) -> tuple[Spread, str]:
    """Instance-hours of a month that the fleet is paid for, and why so many.

    Reserved capacity costs the same idle. Training nodes that are not reserved go away with their jobs (AWS Batch
    scales to zero); an endpoint's nodes stay.
    """
    nodes = fleet.nodes
    if fleet.market is MarketKind.RESERVATION:
        above = max(0, nodes - fleet.reserved_instances)
        reserved = Spread.certain(fleet.reserved_instances * HOURS)
        why = f"{fleet.reserved_instances} reserved, paid for used or not"
        return reserved + use.running * (above * HOURS), why + (f"; {above} more as they run" if above else "")
    if fleet.market is MarketKind.CAPACITY_BLOCK:
        length = HOURS if fleet.block_hours is None else _block_hours(fleet.block_hours)
        why = f"{fleet.reserved_instances} in a block, prepaid; "
        why += "as if blocks follow each other" if fleet.block_hours is None else f"{length:g} h of it in the month"
        return Spread.certain(fleet.reserved_instances * length), why
    if fleet.purpose is Purpose.INFERENCE:
        return Spread.certain(nodes * HOURS), f"{nodes} nodes that stay"
    running = use.running
    shares = f"{running.low:.0%}, {running.expected:.0%}, {running.high:.0%} of the month"
    return running * (nodes * HOURS), f"{nodes} nodes while jobs run: {shares}"


def capacity_lines(
    fleets: tuple[FleetShape, ...], use: Use, today: date | None = None
) -> tuple[list[Line], list[NotPriced]]:
    """A line for each fleet; those whose price nobody knows apart."""
    lines: list[Line] = []
    unknown: list[NotPriced] = []
    for fleet in fleets:
        hours, why = hours_paid(fleet, use)
        what = f"{fleet.nodes} x {fleet.instance_type}, {fleet.market}"
        price = fleet.price
        if price is None:
            missing = f"no {fleet.market} price is known; {hours.expected:,.0f} instance-hours are expected"
            unknown.append(NotPriced(f"{fleet.name}: {what}", missing))
            continue
        old = staleness(price, today) if today else None
        label = f"{price.kind}, {price.region}, {price.as_of} ({price.source}){f', STALE: {old}' if old else ''}"
        usd = hours * price.usd_per_hour
        because = f"{what}: {why}"
        lines.append(Line(Group.CAPACITY, fleet.name, hours, "instance-hour", price.usd_per_hour, usd, label, because))
    return lines, unknown


def running_hours(fleet: FleetShape, use: Use) -> Spread:
    """Hours of a month in which a node of the fleet exists and sends: what it measures is paid for in them."""
    if fleet.purpose is Purpose.INFERENCE:
        return Spread.certain(HOURS)
    # Reserved or not, AWS Batch starts a training node for a job and ends it afterwards; a block ends all of its nodes.
    return use.running * (HOURS if fleet.block_hours is None else _block_hours(fleet.block_hours))


def _block_hours(length: float) -> float:
    return min(HOURS, max(0.0, length))


def hosting_lines(hosted: tuple[HostedShape, ...], today: date | None = None) -> tuple[list[Line], list[NotPriced]]:
    """A line for each endpoint; those whose price nobody knows apart. Rollouts are not counted."""
    lines: list[Line] = []
    unknown: list[NotPriced] = []
    for each in hosted:
        hours = Spread(each.low * HOURS, each.nodes * HOURS, each.high * HOURS)
        what, price = f"{each.nodes} x ml.{each.prices.instance_type}, SageMaker", each.prices.hosted
        if price is None:
            why = f"{each.prices.text(each.nodes, today)}; {hours.expected:,.0f} instance-hours are expected"
            unknown.append(NotPriced(f"{each.name}: {what}", why))
            continue
        old = staleness(price, today) if today else None
        label = f"{price.kind}, {price.region}, {price.as_of} ({price.source}){f', STALE: {old}' if old else ''}"
        scales = f", {each.low} to {each.high} as it scales" if each.low != each.high else ""
        because = f"{what}: {each.nodes} instances that stay{scales}"
        usd = hours * price.usd_per_hour
        lines.append(Line(Group.CAPACITY, each.name, hours, "instance-hour", price.usd_per_hour, usd, label, because))
    return lines, unknown
