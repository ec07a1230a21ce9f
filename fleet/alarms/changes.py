"""Is somebody changing the environment: what keeps composite alarms quiet while nodes come and go on purpose.

It is fed by level and not by events, so that an event that was lost can neither open a silence nor keep one: the
capacity watch counts CloudFormation's operations at each look, and a rollout says at each of its looks that it goes
on. Where both are silent nothing is suppressed.
"""

from fleet import operations_metrics
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.settings import platform
from fleet.alarms.specs import AlarmSpec, Comparison, TreatMissingData
from fleet.lateness import lasting
from fleet.operations_metrics import OperationsMetric


def change_in_progress(environment: str) -> AlarmSpec:
    """In ALARM while a deployment or a rollout is under way."""

    def count(metric: OperationsMetric) -> MetricRef:
        dimensions = ((operations_metrics.ENVIRONMENT, environment),)
        return MetricRef(operations_metrics.NAMESPACE, metric.name, "Maximum", dimensions)

    return platform(environment).ticket(
        "ChangeInProgress",
        summary="A deployment or a rollout is under way.",
        action="Nothing: alarms on utilization wait for its end.",
        metric=MathRef(
            "FILL(deploying, 0) + FILL(rolling, 0)",
            (
                ("deploying", count(operations_metrics.DEPLOYMENTS_IN_PROGRESS)),
                ("rolling", count(operations_metrics.ROLLOUTS_IN_PROGRESS)),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # A look takes place every minute or two.
        datapoints=lasting(1),
        silence=TreatMissingData.NOT_BREACHING,
        notifies=False,
    )
