"""For whoever pays: dollars an hour, how many of them buy nothing, how many cores nobody holds, what is missing."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards import money
from dashboards.alarms import AlarmGroup
from dashboards.by_job import owners_table
from dashboards.widgets import Row, Shape, alarm_status, graph, log_table, numbers, row, rows_of, series, total
from fleet import metrics, naming
from fleet.alarms import Spec, drawn_on
from fleet.alarms.specs import Area
from fleet.capacity.plan import LaunchPlan
from fleet.fleet_spec import MarketKind
from fleet.metrics import MetricSpec, Unit


def rows(
    name: str,
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, Sequence[Spec]],
    alarms: Mapping[str, AlarmGroup],
) -> list[Row]:
    """The dashboard of the environment called ``name`` from top to bottom; ``plans`` are of every fleet with nodes."""
    fleets = list(plans)
    return [
        row(money.price_text(plans.values())),
        row(
            money.now(name, plans, height=4),
            numbers("Nodes without a job", [total(metrics.NODES_NO_JOB, name, fleets, label="nodes")]),
        ),
        row(
            graph(
                "Paid, dollars an hour",
                Unit.NONE,
                [series(metrics.COST_USD_PER_HOUR, "Sum", name, fleet) for fleet in fleets],
                stacked=True,
            ),
            graph(
                "Wasted, dollars an hour",
                Unit.NONE,
                [series(metrics.WASTED_USD_PER_HOUR, "Sum", name, fleet) for fleet in fleets],
                stacked=True,
            ),
        ),
        *_capacity(name, plans, specs, alarms),
        *rows_of(3, [_cores(name, fleet) for fleet in fleets]),
        row(owners_table(name)),
    ]


def _capacity(
    environment: str,
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, Sequence[Spec]],
    alarms: Mapping[str, AlarmGroup],
) -> list[Row]:
    """What the capacity watch says. A fleet has the graphs of how it is bought: nobody measures the others."""
    reserved = [fleet for fleet, plan in plans.items() if plan.is_reserved]
    blocks = [fleet for fleet, plan in plans.items() if plan.market is MarketKind.CAPACITY_BLOCK]
    spot = [fleet for fleet, plan in plans.items() if plan.market is MarketKind.SPOT]

    def lines(spec: MetricSpec, fleets: Sequence[str]) -> list[cw.Metric]:
        return [series(spec, "Maximum", environment, fleet) for fleet in fleets]

    shapes = [
        money.stale_prices(environment, plans),
        graph("Nodes that EC2 shows", Unit.COUNT, lines(metrics.PRESENT_NODES, list(specs))),
        graph("Missing nodes", Unit.COUNT, lines(metrics.MISSING_NODES, list(specs))),
    ]
    if reserved:
        unused = lines(metrics.UNUSED_RESERVATION_USD_PER_HOUR, reserved)
        shapes.append(graph("Unused reservations, dollars an hour", Unit.NONE, unused, stacked=True))
        shapes += [_reservation(environment, fleet) for fleet in reserved]
    for fleet in blocks:
        left = lines(metrics.CAPACITY_BLOCK_MINUTES_LEFT, [fleet])
        ending = drawn_on(metrics.CAPACITY_BLOCK_MINUTES_LEFT.name, specs[fleet])
        shapes.append(graph(f"Minutes left of the block of {fleet}", Unit.COUNT, left, alarms=ending))
    if spot:
        shapes.append(graph("Spot interruptions a minute", Unit.COUNT, lines(metrics.SPOT_INTERRUPTIONS, spot)))
    states = [
        alarms[fleet].by_key[spec.key] for fleet, own in specs.items() for spec in own if spec.area is Area.CAPACITY
    ]
    return [row(alarm_status("Capacity", states)), *rows_of(3, shapes), row(_reasons(environment))]


def _reservation(environment: str, fleet: str) -> Shape:
    reserved = series(metrics.RESERVED_INSTANCES, "Maximum", environment, fleet, label="reserved")
    unused = series(metrics.UNUSED_RESERVED_INSTANCES, "Maximum", environment, fleet, label="unused")
    return graph(f"Reserved instances of {fleet}", Unit.COUNT, [reserved, unused])


def _reasons(environment: str) -> Shape:
    return log_table(
        "Why nodes are missing",
        naming.capacity_log_group(environment),
        "filter missing > 0",
        "stats max(@timestamp) as newest, latest(missing) as nodes, latest(reason) as why, latest(action) as what_to_do"
        " by fleet",
        "sort newest desc",
    )


def _cores(environment: str, fleet: str) -> Shape:
    held = series(metrics.CORES_ALLOCATED, "Sum", environment, fleet, label="held by a job")
    every = series(metrics.CORES_TOTAL, "Sum", environment, fleet, label="all")
    return graph(f"Cores of {fleet}", Unit.COUNT, [held, every])
