"""What CloudWatch's metrics say beside the logs: was the environment being changed, and what a large fleet wastes.

Whether it was being changed is the first thing that whoever is woken asks. It comes from the same two metrics that
alarms are suppressed by. The capacity watch counts deployments at each look, so that a window without any datum means
that nobody looked, which is not "no deployment".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from fleet import metrics, operations_metrics
from fleet.operations_metrics import OperationsMetric
from lambdas.pager.errors import EnrichmentError

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricDataResultTypeDef, MetricTypeDef

# Half an hour: what a deployment broke shows within it, for no alarm but those of capacity looks back for longer.
WINDOW: Final = timedelta(minutes=30)
# A look takes place every minute or two, and a datum may take another one to arrive.
STILL: Final = timedelta(minutes=4)
_METRICS: Final[Mapping[str, OperationsMetric]] = {
    "deployment": operations_metrics.DEPLOYMENTS_IN_PROGRESS,
    "rollout": operations_metrics.ROLLOUTS_IN_PROGRESS,
}
# By minute, as counted.
Counts = Mapping[datetime, float]


@dataclass(frozen=True, slots=True)
class EnvironmentChange:
    """One deployment or rollout, from ``began`` to the minute in which it was ``last_heard`` of.

    ``is_over``: its end was told. ``is_old``: it may have begun before the window.
    """

    kind: str
    began: datetime
    last_heard: datetime
    is_over: bool
    is_old: bool


class ChangeMetrics:
    """What is said by the functions that change the environment, or see it changed: one call of GetMetricData."""

    def __init__(self, cloudwatch: "CloudWatchClient", environment: str) -> None:
        self._client, self._environment = cloudwatch, environment

    def before(self, at: datetime) -> tuple[EnvironmentChange, ...] | None:
        """The newest change of each kind in the half hour before ``at``; None when nobody looked.

        Raises:
            EnrichmentError: CloudWatch did not answer.
        """
        try:
            answer = self._client.get_metric_data(
                MetricDataQueries=[self._query(kind, metric) for kind, metric in _METRICS.items()],
                StartTime=at - WINDOW,
                EndTime=at,
            )
        except (BotoCoreError, ClientError) as error:
            raise EnrichmentError(f"the metrics of changes could not be read ({type(error).__name__})") from error
        return newest_changes({each["Id"]: _counts(each) for each in answer["MetricDataResults"]}, at)

    def _query(self, kind: str, metric: OperationsMetric) -> "MetricDataQueryTypeDef":
        dimensions = {operations_metrics.ENVIRONMENT: self._environment}
        return _query(kind, operations_metrics.NAMESPACE, metric.name, dimensions, "Maximum")


def newest_changes(found: Mapping[str, Counts], at: datetime) -> tuple[EnvironmentChange, ...] | None:
    """The newest change of each kind; None when there is no datum at all."""
    if not any(found.values()):
        return None
    newest = (_newest(kind, counts, at) for kind, counts in found.items())
    return tuple(each for each in newest if each is not None)


def _newest(kind: str, counts: Counts, at: datetime) -> EnvironmentChange | None:
    busy = sorted((minute for minute, count in counts.items() if count >= 1), reverse=True)
    if not busy:
        return None
    began = busy[0]
    for minute in busy[1:]:
        if began - minute > STILL:
            break
        began = minute
    is_over = any(minute > busy[0] for minute in counts)
    return EnvironmentChange(kind, began, busy[0], is_over, is_old=began - (at - WINDOW) <= STILL)


def wording(changes_before: tuple[EnvironmentChange, ...] | None, at: datetime) -> str | None:
    """One line of what was so ``at`` the alarm; None when it is not known."""
    if changes_before is None:
        return None
    if not changes_before:
        return f"no deployment and no rollout in the {WINDOW.seconds // 60} minutes before"
    return "; ".join(_said(each, at) for each in changes_before)


def _said(change: EnvironmentChange, at: datetime) -> str:
    if change.is_over:
        return f"a {change.kind} ended at {_clock(change.last_heard + timedelta(minutes=1))}"
    if at - change.last_heard > STILL:
        # Who drives it has died, or says nothing any more.
        return f"a {change.kind} was last heard of at {_clock(change.last_heard)}, and its end was not told"
    return f"a {change.kind} is in progress since {'before ' if change.is_old else ''}{_clock(change.began)}"


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%H:%M} UTC"


class WasteMetric:
    """What a fleet's node wastes on the mean, minute by minute."""

    def __init__(self, cloudwatch: "CloudWatchClient", environment: str) -> None:
        self._client, self._environment = cloudwatch, environment

    def per_node(self, fleet: str, start: datetime, end: datetime) -> dict[datetime, float]:
        """USD an hour of the mean node by minute; empty when CloudWatch does not answer.

        The mean and not the sum, because a repeated PutMetricData doubles a sum.
        """
        dimensions = {metrics.ENVIRONMENT: self._environment, metrics.FLEET: fleet}
        query = _query("waste", metrics.NAMESPACE, metrics.WASTED_USD_PER_HOUR.name, dimensions, "Average")
        try:
            answer = self._client.get_metric_data(MetricDataQueries=[query], StartTime=start, EndTime=end)
        except (BotoCoreError, ClientError):
            return {}
        return dict(_counts(answer["MetricDataResults"][0]))


def _query(
    identifier: str, namespace: str, name: str, dimensions: Mapping[str, str], statistic: str
) -> "MetricDataQueryTypeDef":
    metric: MetricTypeDef = {
        "Namespace": namespace,
        "MetricName": name,
        "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
    }
    return {"Id": identifier, "MetricStat": {"Metric": metric, "Period": 60, "Stat": statistic}}


def _counts(result: "MetricDataResultTypeDef") -> Counts:
    return {at.astimezone(UTC): count for at, count in zip(result["Timestamps"], result["Values"], strict=True)}
