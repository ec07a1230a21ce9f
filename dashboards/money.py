"""Dollars: what a node-hour costs and since when, what is paid and wasted now, and what it has come to.

Nodes count their own price. A reserved instance that nothing runs on has no agent to count it: the capacity watch does,
and it is paid for and wasted all the same.
"""

from collections.abc import Iterable, Mapping

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Shape, graph, numbers, series, text
from fleet import metrics
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import MetricSpec, Unit
from fleet.prices.wording import UNKNOWN, rate

# For a log table with dollars: the price that the events were counted at, which may be newer than the deployed one.
PRICE_COLUMNS = "latest(price.kind) as price_kind, latest(price.as_of) as price_date"


def price_text(plans: Iterable[LaunchPlan]) -> Shape:
    """Prices as they were deployed. What day they are read on, nobody knows here: StalePrice says that one is old."""
    lines = [f"**{plan.spec.name}**: {UNKNOWN if plan.price is None else rate(plan.price, None)}" for plan in plans]
    told = " · ".join(lines)
    newer = "Nodes count at a newer price once AWS's lists are refreshed; the tables name the kind and date they used."
    return text(f"Dollars, as deployed: {told}. {newer}", height=2 + len(lines) // 4)


def stale_prices(environment: str, fleets: Iterable[str]) -> Shape:
    """Which fleets' prices are too old, or not known."""
    lines = [series(metrics.STALE_PRICE, "Maximum", environment, fleet) for fleet in fleets]
    return graph("Stale prices (1: too old, or not known)", Unit.COUNT, lines)


def now(environment: str, plans: Mapping[str, LaunchPlan], *, height: int) -> Shape:
    """What all fleets cost and waste at this moment, reserved instances that nothing runs on included."""
    values = [
        _total(environment, plans, metrics.COST_USD_PER_HOUR, label="paid"),
        _total(environment, plans, metrics.WASTED_USD_PER_HOUR, label="wasted"),
    ]
    return numbers("Dollars an hour, idle reservations included", values, height=height)


def so_far(environment: str, fleet: str) -> Shape:
    """What a fleet's nodes have cost and wasted since the left edge of what is shown."""
    return graph(
        "Dollars of the nodes, since the left edge",
        Unit.NONE,
        [
            _running(metrics.COST_USD_PER_HOUR, environment, fleet, label="paid"),
            _running(metrics.WASTED_USD_PER_HOUR, environment, fleet, label="wasted"),
        ],
    )


def _total(environment: str, plans: Mapping[str, LaunchPlan], spec: MetricSpec, *, label: str) -> cw.MathExpression:
    prefix = spec.name[0].lower() + spec.name[1:]
    nodes = {f"{prefix}{at}": series(spec, "Sum", environment, fleet) for at, fleet in enumerate(plans)}
    return _sum(nodes | _idle(environment, plans, prefix), label=label)


def _idle(environment: str, plans: Mapping[str, LaunchPlan], prefix: str) -> dict[str, cw.Metric]:
    """The reserved instances that nothing runs on, of the fleets that have reservations."""
    spec = metrics.UNUSED_RESERVATION_USD_PER_HOUR
    return {
        f"{prefix}Idle{at}": series(spec, "Maximum", environment, fleet)
        for at, (fleet, plan) in enumerate(plans.items())
        if plan.is_reserved
    }


def _sum(parts: Mapping[str, cw.Metric], *, label: str) -> cw.MathExpression:
    # SUM over an array adds up what there is: a fleet that is silent for a minute does not hide the others.
    return cw.MathExpression(
        expression=f"SUM([{', '.join(parts)}])", using_metrics=dict(parts), label=label, period=MINUTE
    )


def _running(spec: MetricSpec, environment: str, fleet: str, *, label: str) -> cw.MathExpression:
    parts = {label: series(spec, "Sum", environment, fleet)}
    return cw.MathExpression(expression=f"RUNNING_SUM({label} / 60)", using_metrics=parts, label=label, period=MINUTE)
