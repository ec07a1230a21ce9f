"""The functions behind the platform, by their names, and what an alarm reads of one: its metrics, its dead letters."""

from typing import Final

from fleet import naming, operations_metrics
from fleet.alarm_page import EvidenceKind
from fleet.alarms.specs import AlarmSpec, Comparison, MetricRef, Severity, TreatMissingData
from fleet.operations_metrics import OperationsMetric

PAGER: Final = "pager"
CAPACITY_BLOCKS: Final = "capacity-blocks"
CAPACITY_WATCH: Final = "capacity-watch"
PRECOMPILE: Final = "precompile"
PRICES: Final = "prices"
COST_REPORT: Final = "cost-report"
POOL: Final = "pool"
ROLLOUT: Final = "rollout"
BUDGETS: Final = "budgets"


def waiting(  # noqa: PLR0913  an alarm's own fields, all named
    environment: str,
    function: str,
    *,
    key: str,
    title: str,
    severity: Severity,
    summary: str,
    action: str,
    first_command: str | None = None,
    past_the_pager: bool = False,
) -> AlarmSpec:
    """Something lies in a function's dead-letter queue."""
    queue = (("QueueName", naming.dead_letter_queue(environment, function)),)
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key=key,
        title=title,
        severity=severity,
        summary=summary,
        action=action,
        evidence=EvidenceKind.NONE,
        first_command=first_command,
        metric=MetricRef("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, 1),
        # SQS stops to report a queue that nothing has touched for hours, and its messages still lie there (SQS
        # Developer Guide, "Available CloudWatch metrics for Amazon SQS").
        silence=TreatMissingData.KEEP,
        past_the_pager=past_the_pager,
    )


def measured(environment: str, metric: OperationsMetric, statistic: str) -> MetricRef:
    """A metric of the platform's own."""
    dimensions = ((operations_metrics.ENVIRONMENT, environment),)
    return MetricRef(operations_metrics.NAMESPACE, metric.name, statistic, dimensions)
