"""For whoever pays: dollars an hour, how many of them buy nothing, and how many cores nobody holds."""

from dashboards.widgets import Row, Shape, graph, log_table, numbers, row, rows_of, series, total
from environments.model import Environment
from fleet import metrics
from fleet.metrics import Unit


def rows(environment: Environment) -> list[Row]:
    """The dashboard from top to bottom."""
    name = environment.name
    fleets = [fleet.name for fleet in environment.fleets]
    return [
        row(
            numbers("Paid now, dollars an hour", [total(metrics.COST_USD_PER_HOUR, name, fleets, label="paid")]),
            numbers("Wasted now, dollars an hour", [total(metrics.WASTED_USD_PER_HOUR, name, fleets, label="wasted")]),
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
        *rows_of(3, [_cores(name, fleet) for fleet in fleets]),
        row(
            log_table(
                "Dollars wasted an hour and node, by the job with most of its cores",
                name,
                "stats avg(cost_usd_per_hour) as paid, avg(wasted_usd_per_hour) as wasted "
                "by owner, fleet, job, job_name",
                "sort wasted desc",
                "limit 20",
            )
        ),
    ]


def _cores(environment: str, fleet: str) -> Shape:
    held = series(metrics.CORES_ALLOCATED, "Sum", environment, fleet, label="held by a job")
    every = series(metrics.CORES_TOTAL, "Sum", environment, fleet, label="all")
    return graph(f"Cores of {fleet}", Unit.COUNT, [held, every])
