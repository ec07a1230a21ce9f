"""Was the environment being changed: the first thing that whoever is woken asks.

From the same two metrics that alarms are suppressed by. The capacity watch counts deployments at each look, so that a
window without any datum means that nobody looked, which is not "no deployment".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from fleet import operations_metrics
from fleet.operations_metrics import OperationsMetric
from lambdas.pager.clients import MetricsClient
from lambdas.pager.errors import EnrichmentError

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
class Spell:
    """One deployment or rollout, from ``began`` to the minute in which it was ``last_heard`` of.

    ``is_over``: its end was told. ``is_old``: it may have begun before the window.
    """

    kind: str
    began: datetime
    last_heard: datetime
    is_over: bool
    is_old: bool


class Changes(Protocol):
    """What the functions that change the environment, or see it changed, say of themselves."""

    def before(self, at: datetime) -> tuple[Spell, ...] | None:
        """The newest change of each kind in the half hour before ``at``; None when nobody looked.

        Raises:
            EnrichmentError: CloudWatch did not answer.
        """


class ChangeMetrics:
    """One call of GetMetricData."""

    def __init__(self, cloudwatch: MetricsClient, environment: str) -> None:
        self._client, self._environment = cloudwatch, environment

    def before(self, at: datetime) -> tuple[Spell, ...] | None:
        """As in ``Changes``."""
        try:
            answer = self._client.get_metric_data(
                MetricDataQueries=[{"Id": kind, "MetricStat": self._stat(metric)} for kind, metric in _METRICS.items()],
                StartTime=at - WINDOW,
                EndTime=at,
            )
        except (BotoCoreError, ClientError) as error:
            raise EnrichmentError(f"the metrics of changes could not be read ({type(error).__name__})") from error
        return spells({each["Id"]: _counts(each) for each in answer["MetricDataResults"]}, at)

    def _stat(self, metric: OperationsMetric) -> dict[str, object]:
        dimensions = [{"Name": operations_metrics.ENVIRONMENT, "Value": self._environment}]
        of = {"Namespace": operations_metrics.NAMESPACE, "MetricName": metric.name, "Dimensions": dimensions}
        return {"Metric": of, "Period": 60, "Stat": "Maximum"}


def spells(found: Mapping[str, Counts], at: datetime) -> tuple[Spell, ...] | None:
    """The newest spell of each kind; None when there is no datum at all."""
    if not any(found.values()):
        return None
    newest = (_newest(kind, counts, at) for kind, counts in found.items())
    return tuple(spell for spell in newest if spell is not None)


def _newest(kind: str, counts: Counts, at: datetime) -> Spell | None:
    busy = sorted((minute for minute, count in counts.items() if count >= 1), reverse=True)
    if not busy:
        return None
    began = busy[0]
    for minute in busy[1:]:
        if began - minute > STILL:
            break
        began = minute
    is_over = any(minute > busy[0] for minute in counts)
    return Spell(kind, began, busy[0], is_over, is_old=began - (at - WINDOW) <= STILL)


def wording(spells_before: tuple[Spell, ...] | None, at: datetime) -> str | None:
    """One line of what was so ``at`` the alarm; None when it is not known."""
    if spells_before is None:
        return None
    if not spells_before:
        return f"no deployment and no rollout in the {WINDOW.seconds // 60} minutes before"
    return "; ".join(_said(spell, at) for spell in spells_before)


def _said(spell: Spell, at: datetime) -> str:
    if spell.is_over:
        return f"a {spell.kind} ended at {_clock(spell.last_heard + timedelta(minutes=1))}"
    if at - spell.last_heard > STILL:
        # Who drives it has died, or says nothing any more.
        return f"a {spell.kind} was last heard of at {_clock(spell.last_heard)}, and its end was not told"
    return f"a {spell.kind} is in progress since {'before ' if spell.is_old else ''}{_clock(spell.began)}"


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%H:%M} UTC"


def _counts(result: Mapping[str, Any]) -> Counts:
    return {at.astimezone(UTC): count for at, count in zip(result["Timestamps"], result["Values"], strict=True)}
