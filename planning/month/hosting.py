"""What endpoints cost that SageMaker runs: instance-hours at SageMaker's price, whatever EC2's is."""

from datetime import date

from fleet.prices.age import staleness
from planning.month.line import Group, Line, Spread
from planning.month.prices import HOURS, NotPriced
from planning.month.shape import HostedShape


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
