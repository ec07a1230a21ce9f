"""The platform's own machinery: do pages arrive, and do the functions that look after fleets get through their work."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Row, Shape, graph, row
from fleet import operations_metrics as operations
from fleet.metrics import Unit
from fleet.operations_metrics import OperationsMetric


def rows(environment: str) -> list[Row]:
    """Two rows; a function that is not deployed, or had nothing to do, has no line."""

    def counts(title: str, *named: tuple[OperationsMetric, str]) -> Shape:
        return graph(title, Unit.COUNT, _lines(environment, named))

    return [
        row(
            counts(
                "Pages a minute",
                (operations.PAGES_SENT, "accepted"),
                (operations.PAGES_FAILED, "refused by their destination"),
                (operations.ENRICHMENT_FAILED, "sent bare"),
            ),
            counts(
                "Problems at a look",
                (operations.CAPACITY_WATCH_PROBLEMS, "capacity watch"),
                (operations.CAPACITY_BLOCK_PROBLEMS, "Capacity Blocks"),
                (operations.PRICE_PROBLEMS, "prices"),
                (operations.LEDGER_PROBLEMS, "ledger"),
                (operations.POOL_PROBLEMS, "pools"),
            ),
            counts(
                "Precompilations",
                (operations.PRECOMPILATIONS_DONE, "done"),
                (operations.PRECOMPILATIONS_FAILED, "failed"),
            ),
        ),
        row(
            changes(environment),
            counts("Jobs with metrics of their own", (operations.JOBS_WITH_METRICS, "jobs in the newest hour")),
            graph(
                "The month at the present rate, of its budget",
                Unit.PERCENT,
                _lines(environment, [(operations.BUDGET_FORECAST_PERCENT, "worst budget")], statistic="Maximum"),
            ),
        ),
    ]


def changes(environment: str) -> Shape:
    """Deployments and rollouts: whoever sees a figure jump asks for them first."""
    named = [
        (operations.DEPLOYMENTS_IN_PROGRESS, "deployments"),
        (operations.ROLLOUTS_IN_PROGRESS, "rollouts"),
        (operations.ROLLOUTS_NOT_DONE, "rollouts that did not end well"),
    ]
    # Gauges: the sum of two looks in a minute would count each twice.
    return graph("Changes under way", Unit.COUNT, _lines(environment, named, statistic="Maximum"))


def _lines(
    environment: str, named: Sequence[tuple[OperationsMetric, str]], *, statistic: str = "Sum"
) -> list[cw.Metric]:
    return [
        cw.Metric(
            namespace=operations.NAMESPACE,
            metric_name=metric.name,
            statistic=statistic,
            dimensions_map={operations.ENVIRONMENT: environment},
            period=MINUTE,
            label=label,
        )
        for metric, label in named
    ]
