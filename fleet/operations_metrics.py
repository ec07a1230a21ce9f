"""The metrics that functions publish about themselves: each name is written here and nowhere else.

They have their own namespace, because they say how the platform's own machinery does, not how a fleet does. All carry
one dimension, the environment, so that one alarm sees every series; what else is known travels as metadata.
"""

from dataclasses import dataclass
from typing import Final

NAMESPACE: Final = "NeuronFleet/Operations"
ENVIRONMENT: Final = "Environment"


@dataclass(frozen=True, slots=True)
class OperationsMetric:
    """``meaning`` is for the person who wonders what the number says; ``unit`` is one of CloudWatch's."""

    name: str
    meaning: str
    unit: str = "Count"


PAGES_SENT: Final = OperationsMetric("PagesSent", "messages that a destination accepted")
PAGES_FAILED: Final = OperationsMetric("PagesFailed", "messages that a destination did not take after all attempts")
ENRICHMENT_FAILED: Final = OperationsMetric("EnrichmentFailed", "pages that went out without nodes, job and dollars")
CAPACITY_BLOCK_PROBLEMS: Final = OperationsMetric(
    "CapacityBlockProblems", "Capacity Blocks of which something could not be done at a look; 0 at a look without any"
)
CAPACITY_WATCH_PROBLEMS: Final = OperationsMetric(
    "CapacityWatchProblems",
    "at a look: fleets whose capacity could not be seen or put in order, and reservations that no fleet has any more",
)
DEPLOYMENTS_IN_PROGRESS: Final = OperationsMetric(
    "DeploymentsInProgress", "at a look: stacks of the environment that CloudFormation is changing"
)
ROLLOUTS_IN_PROGRESS: Final = OperationsMetric(
    "RolloutsInProgress", "1 at each look at a rollout that is under way, 0 at its last look"
)
JOBS_WITH_METRICS: Final = OperationsMetric(
    "JobsWithMetrics", "at a run of the ledger: jobs that had metric series of their own in the newest hour"
)
PRECOMPILATIONS_DONE: Final = OperationsMetric(
    "PrecompilationsDone", "models whose graphs were compiled before they were needed"
)
PRECOMPILATIONS_FAILED: Final = OperationsMetric(
    "PrecompilationsFailed", "precompilations of which no whole artifact came; the execution's cause says why"
)
PRICE_PROBLEMS: Final = OperationsMetric(
    "PriceProblems", "at a refresh: prices that could not be read, and figures that were kept apart"
)
LEDGER_PROBLEMS: Final = OperationsMetric(
    "LedgerProblems", "at a run: what of the ledger could not be taken in, rolled up or held against the bill"
)
POOL_PROBLEMS: Final = OperationsMetric(
    "PoolProblems", "at a look at every pool: what could not be seen, started, drained or replaced; 0 without any"
)
ROLLOUTS_NOT_DONE: Final = OperationsMetric(
    "RolloutsNotDone", "at the end of a rollout: 0 when the new version serves as it should, 1 when not"
)
BUDGET_FORECAST_PERCENT: Final = OperationsMetric(
    "BudgetForecastPercent",
    "every hour: what the month comes to at the present rate, of the budget that it exceeds most",
    "Percent",
)

CATALOGUE: Final[dict[str, OperationsMetric]] = {
    metric.name: metric for metric in list(globals().values()) if isinstance(metric, OperationsMetric)
}
