"""PromQL alarms of a region: each series that a query returns is a contributor, with a state and actions of its own.

Sources: Amazon CloudWatch User Guide, "PromQL alarms" and "Acting on alarm changes" (whose table of actions has SNS at
the level of the alarm and of the contributor), PutMetricAlarm and DescribeAlarmContributors of the API reference. The
notification of a contributor is that of the alarm with AlarmContributorId and AlarmContributorAttributes, as the
example of a log alarm with several contributors shows it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from local.alarm_evaluation import State
from local.alarm_evaluation.promql import Evaluation, Labels, Node, PromqlError, parse
from local.alarm_evaluation.promql.contributors import ContributorAlarm, ContributorEvent, Contributors, evaluated
from local.emulator.cloudwatch.errors import invalid, missing, validation

LONGEST_QUERY: Final = 10_000
INTERVALS: Final = (10, 3600)


@dataclass(slots=True)
class _PromqlAlarm:
    query: Node
    contributors: Contributors
    interval: float
    evaluated_at: float = float("-inf")
    since: dict[Labels, float] = field(default_factory=dict)
    due: dict[Labels, ContributorEvent] = field(default_factory=dict)


def contributor_id(labels: Labels) -> str:
    """Sixteen characters that are the same for the same labels."""
    return hashlib.sha256(repr(labels).encode()).hexdigest()[:16]


def criteria(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The request's PromQLCriteria; None for an alarm of another kind."""
    found = request.get("EvaluationCriteria") or {}
    return found.get("PromQLCriteria")


def check_promql_alarm(request: Mapping[str, Any]) -> ContributorAlarm:
    """The alarm to evaluate; raises ``ApiError`` for one that CloudWatch would refuse or that cannot be evaluated."""
    asked = criteria(request) or {}
    query = asked.get("Query") or ""
    if not query:
        raise missing("Query")
    if len(query) > LONGEST_QUERY:
        raise invalid(f"Query has {len(query)} characters; the limit is {LONGEST_QUERY}")
    if request.get("EvaluationInterval") is None:
        raise missing("EvaluationInterval")
    shortest, longest = INTERVALS
    if not shortest <= int(request["EvaluationInterval"]) <= longest:
        raise invalid(
            f"EvaluationInterval {request['EvaluationInterval']} is not within {shortest} to {longest} seconds"
        )
    others = [name for name in ("MetricName", "Metrics", "Threshold", "EvaluationPeriods") if request.get(name)]
    if others:
        raise validation(f"An alarm with EvaluationCriteria takes no {others[0]}")
    try:
        parse(query)
        return ContributorAlarm(
            name=request["AlarmName"],
            query=query,
            pending=float(asked.get("PendingPeriod") or 0),
            recovery=float(asked.get("RecoveryPeriod") or 0),
        )
    except PromqlError as error:
        raise validation(f"Error in Query: {error}") from error


class PromqlAlarms:
    """The contributors of every PromQL alarm of a region, from one evaluation to the next."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._alarms: dict[str, _PromqlAlarm] = {}

    def put(self, alarm: ContributorAlarm, interval: float) -> None:
        """Create or reconfigure; contributors of a query that stays keep their states."""
        known = self._alarms.get(alarm.name)
        if known is not None and known.contributors.alarm.query == alarm.query:
            known.contributors.alarm, known.interval = alarm, interval
            return
        self._alarms[alarm.name] = _PromqlAlarm(parse(alarm.query), Contributors(alarm), interval)

    def remove(self, name: str) -> None:
        """Forget an alarm."""
        self._alarms.pop(name, None)

    def state(self, name: str) -> State | None:
        """The alarm's own: ALARM while one contributor is; None for an alarm that is not on PromQL."""
        alarm = self._alarms.get(name)
        return alarm.contributors.state if alarm else None

    def described(self, name: str) -> list[dict[str, Any]]:
        """The contributors that are in ALARM, as DescribeAlarmContributors answers."""
        alarm = self._alarms.get(name)
        if alarm is None:
            return []
        return [
            {
                "ContributorId": contributor_id(labels),
                "ContributorAttributes": dict(labels),
                "StateReason": "The query returned the series",
                "StateTransitionedTimestamp": alarm.since[labels],
            }
            for labels in alarm.contributors.in_alarm
        ]

    def evaluate(self, name: str, now: float) -> None:
        """Evaluate the alarm if it is time to; ``due`` has who changed."""
        alarm = self._alarms[name]
        if now - alarm.evaluated_at < alarm.interval:
            return
        alarm.evaluated_at = now
        for event in evaluated(alarm.contributors, alarm.query, self._evaluation, now):
            alarm.since[event.contributor] = now
            alarm.due[event.contributor] = event

    def due(self, name: str, *, muted: bool) -> Sequence[ContributorEvent]:
        """What is to be told now; while the alarm is muted nothing is, and the last change of each waits."""
        alarm = self._alarms[name]
        if muted:
            return ()
        ready = tuple(alarm.due.values())
        alarm.due.clear()
        return ready
