"""Does watching cost what it was planned to: every job has metric series of its own, each paid for by the hour."""

from typing import Final

from fleet import naming, operations_metrics
from fleet.alarm_page import EvidenceKind
from fleet.alarms.specs import AlarmSpec, Comparison, MetricRef, Severity, TreatMissingData

_HOURS: Final = 3
# A small fleet may run this many short jobs in an hour; as many all month long cost some $40.
JOBS_AT_LEAST: Final = 10


def metrics_budget(environment: str, *, jobs_planned: int) -> AlarmSpec:
    """More jobs an hour than the plan prices at the most; ``jobs_planned`` are those of all fleets at once."""
    limit = max(JOBS_AT_LEAST, jobs_planned)
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key="MetricsBudget",
        title="Metrics budget",
        severity=Severity.TICKET,
        summary=f"More than {limit} jobs an hour have metrics of their own, which is more than was planned for.",
        action="Find who starts so many job ids; let an array of short jobs share one, or plan for them.",
        evidence=EvidenceKind.NONE,
        metric=MetricRef(
            operations_metrics.NAMESPACE,
            operations_metrics.JOBS_WITH_METRICS.name,
            "Maximum",
            ((operations_metrics.ENVIRONMENT, environment),),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        # The ledger counts once an hour: three hours in a row, and not one busy morning.
        datapoints=(_HOURS, _HOURS * 60),
        # Minutes between two counts say nothing, and that the ledger is silent is LedgerSilent's.
        silence=TreatMissingData.NOT_BREACHING,
    )
