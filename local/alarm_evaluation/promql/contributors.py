"""PromQL alarms: every series that the query returns is a contributor with a state of its own.

Source: Amazon CloudWatch User Guide, "PromQL alarms" (November 2026): a series that is returned breaches; without a
break for PendingPeriod, ``for`` in Prometheus, it is in ALARM; absent for RecoveryPeriod, ``keep_firing_for``, it is OK
again; the alarm is in ALARM while a contributor is. "Limits" names figures for Metrics Insights alarms over many
series, 100 contributors in ALARM and 500 series beyond which the data are partial; that they hold for PromQL alarms too
is not stated, and neither is which of too many are left out. Here it is whoever comes last, by labels.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from local.alarm_evaluation.promql.evaluation import Evaluation
from local.alarm_evaluation.promql.matching import nameless
from local.alarm_evaluation.promql.nodes import Labels, Node, PromqlError
from local.alarm_evaluation.promql.syntax import parse
from local.alarm_evaluation.states import State

EVALUATION_SECONDS: Final = 60
MOST_IN_ALARM: Final = 100
MOST_SERIES: Final = 500
_LONGEST: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributorAlarm:
    """An alarm as PutMetricAlarm is told of it; periods are seconds."""

    name: str
    query: str
    pending: float = 0
    recovery: float = 0

    def __post_init__(self) -> None:
        for what, seconds in (("PendingPeriod", self.pending), ("RecoveryPeriod", self.recovery)):
            if not 0 <= seconds <= _LONGEST:
                raise PromqlError(f"{self.name}: {what} is {seconds} s, and CloudWatch takes 0 to {_LONGEST}")


@dataclass(frozen=True, slots=True)
class ContributorEvent:
    """A contributor changed its state at unix second ``at``."""

    alarm: str
    contributor: Labels
    at: float
    state: State


@dataclass(slots=True)
class _Contributor:
    breaching_since: float
    absent_since: float | None = None
    in_alarm: bool = False


class Contributors:
    """The contributors of one alarm, from one evaluation to the next. All begin as OK."""

    def __init__(self, alarm: ContributorAlarm) -> None:
        self.alarm = alarm
        self.is_partial = False
        """More series than an alarm takes were returned at the last evaluation: EvaluationState is PARTIAL_DATA."""
        self._known: dict[Labels, _Contributor] = {}

    @property
    def in_alarm(self) -> tuple[Labels, ...]:
        """Who is in ALARM, in the order of their labels."""
        return tuple(sorted(labels for labels, each in self._known.items() if each.in_alarm))

    @property
    def state(self) -> State:
        """The alarm's own."""
        return State.ALARM if any(each.in_alarm for each in self._known.values()) else State.OK

    def follow(self, returned: Iterable[Labels], now: float) -> list[ContributorEvent]:
        """Who changed with the evaluation at ``now``, which returned these series."""
        found = sorted(returned)
        self.is_partial = len(found) > MOST_SERIES
        breaching = found[:MOST_SERIES]
        recovered = self._recover(set(breaching), now)
        return [
            *(ContributorEvent(self.alarm.name, labels, now, State.OK) for labels in recovered),
            *(ContributorEvent(self.alarm.name, labels, now, State.ALARM) for labels in self._breach(breaching, now)),
        ]

    def _recover(self, breaching: set[Labels], now: float) -> list[Labels]:
        over: list[Labels] = []
        for labels in [labels for labels in self._known if labels not in breaching]:
            each = self._known[labels]
            if each.absent_since is None:
                each.absent_since = now
            if not each.in_alarm:
                del self._known[labels]
            elif now - each.absent_since >= self.alarm.recovery:
                del self._known[labels]
                over.append(labels)
        return over

    def _breach(self, breaching: list[Labels], now: float) -> list[Labels]:
        told: list[Labels] = []
        room = MOST_IN_ALARM - sum(each.in_alarm for each in self._known.values())
        for labels in breaching:
            each = self._known.setdefault(labels, _Contributor(now))
            each.absent_since = None
            if not each.in_alarm and now - each.breaching_since >= self.alarm.pending and len(told) < room:
                each.in_alarm = True
                told.append(labels)
        return told


def evaluated(contributors: Contributors, query: Node, evaluation: Evaluation, now: float) -> list[ContributorEvent]:
    """Who changes with the evaluation of ``query``, the alarm's parsed one, at unix second ``now``.

    Raises:
        PromqlError: it gives what Prometheus refuses; the message names the alarm.
    """
    try:
        returned = evaluation.vector(query, now)
    except PromqlError as error:
        raise PromqlError(f"{contributors.alarm.name}: {error}") from error
    return contributors.follow(map(nameless, returned), now)


class ContributorAlarms:
    """Several alarms over one store, evaluated together."""

    def __init__(self, alarms: Iterable[ContributorAlarm], evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._alarms = [(parse(alarm.query), Contributors(alarm)) for alarm in alarms]

    @property
    def in_alarm(self) -> dict[str, tuple[Labels, ...]]:
        """By alarm, who is in ALARM."""
        return {contributors.alarm.name: contributors.in_alarm for _, contributors in self._alarms}

    def advance(self, now: float) -> list[ContributorEvent]:
        """Evaluate every alarm at unix second ``now``; call it once in ``EVALUATION_SECONDS``.

        Raises:
            PromqlError: a query gives what Prometheus refuses.
        """
        events: list[ContributorEvent] = []
        for node, contributors in self._alarms:
            events += evaluated(contributors, node, self._evaluation, now)
        return events
