"""Dollars: what a node-hour costs and since when, what is paid and wasted now, and what it has come to.

Nodes count their own price. A reserved instance that nothing runs on has no agent to count it: the capacity watch does,
and it is paid for and wasted all the same.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Shape, graph, numbers, series, text
from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet
from environments.markets import CapacityBlock, Reservation
from environments.model import Environment
from fleet import metrics
from fleet.metrics import MetricSpec, Unit
from fleet.prices import price_of
from fleet.prices.wording import UNKNOWN, rate

# For a log table with dollars: the price that the events were counted at, which may be newer than the deployed one.
PRICE_COLUMNS = "latest(price.kind) as price_kind, latest(price.as_of) as price_date"


def price_text(environment: Environment, fleets: Sequence[Fleet] | None = None) -> Shape:
    """Prices as they were deployed, of ``fleets`` or of all. What day they are read on, nobody knows here: StalePrice
    says that one is old.
    """
    lines = []
    for fleet in environment.node_fleets if fleets is None else fleets:
        price = price_of(fleet_spec(environment, fleet))
        lines.append(f"**{fleet.name}**: {UNKNOWN if price is None else rate(price, None)}")
    told = " · ".join(lines)
    newer = "Nodes count at a newer price once AWS's lists are refreshed; the tables name the kind and date they used."
    return text(f"Dollars, as deployed: {told}. {newer}", height=2 + len(lines) // 4)


def stale_prices(environment: Environment) -> Shape:
    """Which fleets' prices are too old, or not known."""
    lines = [series(metrics.STALE_PRICE, "Maximum", environment.name, fleet.name) for fleet in environment.node_fleets]
    return graph("Stale prices (1: too old, or not known)", Unit.COUNT, lines)


def now(environment: Environment, *, height: int) -> Shape:
    """What all fleets cost and waste at this moment, reserved instances that nothing runs on included."""
    values = [
        _total(environment, metrics.COST_USD_PER_HOUR, label="paid"),
        _total(environment, metrics.WASTED_USD_PER_HOUR, label="wasted"),
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


def _total(environment: Environment, spec: MetricSpec, *, label: str) -> cw.MathExpression:
    prefix = spec.name[0].lower() + spec.name[1:]
    name = environment.name
    nodes = {f"{prefix}{at}": series(spec, "Sum", name, of.name) for at, of in enumerate(environment.node_fleets)}
    return _sum(nodes | _idle(environment, prefix), label=label)


def _idle(environment: Environment, prefix: str) -> dict[str, cw.Metric]:
    """The reserved instances that nothing runs on, of the fleets that have reservations."""
    spec = metrics.UNUSED_RESERVATION_USD_PER_HOUR
    return {
        f"{prefix}Idle{at}": series(spec, "Maximum", environment.name, fleet.name)
        for at, fleet in enumerate(environment.node_fleets)
        if isinstance(fleet.market, Reservation | CapacityBlock)
    }


def _sum(parts: Mapping[str, cw.Metric], *, label: str) -> cw.MathExpression:
    # SUM over an array adds up what there is: a fleet that is silent for a minute does not hide the others.
    return cw.MathExpression(
        expression=f"SUM([{', '.join(parts)}])", using_metrics=dict(parts), label=label, period=MINUTE
    )


def _running(spec: MetricSpec, environment: str, fleet: str, *, label: str) -> cw.MathExpression:
    parts = {label: series(spec, "Sum", environment, fleet)}
    return cw.MathExpression(expression=f"RUNNING_SUM({label} / 60)", using_metrics=parts, label=label, period=MINUTE)
