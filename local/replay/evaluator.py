"""A set of alarms in virtual time: the specs as CloudWatch would be given them, and what they tell of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fleet.alarms import AlarmSpec, CompositeSpec, ContributorSpec, MetricRef, Spec
from fleet.alarms.specs import SUPPRESSOR_EXTENSION_SECONDS, SUPPRESSOR_WAIT_SECONDS
from local.alarm_evaluation import (
    Action,
    AlarmSet,
    CompositeAlarm,
    Definition,
    MetricAlarm,
    SeriesKey,
    State,
    Suppression,
    TreatMissing,
    WarmUp,
)
from local.alarm_evaluation.composite_rules import parse_rule
from local.alarm_evaluation.metric_math.queries import MetricStat, Query
from local.alarm_evaluation.promql import Labels
from local.alarm_evaluation.suppression import MuteRule
from local.replay.store import MINUTE, Store
from local.simulation.lockstep import SETTLE_SECONDS

AnySpec = Spec | ContributorSpec


@dataclass(frozen=True, slots=True)
class Change:
    """An alarm, or a contributor of one, that told somebody: ``at`` in unix seconds; ``in_alarm`` is False for OK."""

    spec: AnySpec
    at: float
    in_alarm: bool
    contributor: Labels = ()


class Evaluator:
    """Advances an ``AlarmSet`` by the minute. ``specs`` bring the alarms along that their composites wait for."""

    def __init__(self, specs: Iterable[Spec], store: Store, start: float, muted: Iterable[MuteRule] = ()) -> None:
        self._specs = {spec.name: spec for spec in _with_suppressors(specs)}
        self._store = store
        self._alarms = AlarmSet(store)
        for rule in muted:
            self._alarms.mute(rule)
        for spec in self._specs.values():
            self._alarms.put(definition(spec), start)

    def advance(self, minute: int) -> list[Change]:
        """Evaluate everything soon after the minute that began at unix second ``minute``, by what can be seen then."""
        now = minute + MINUTE + SETTLE_SECONDS
        self._store.reveal(now)
        events = self._alarms.advance(now)
        # When somebody is told, which is later than the change of state where something held it back.
        acted = [(event.at, event.change) for event in events if isinstance(event, Action)]
        return [
            Change(self._specs[each.alarm], at, each.state is State.ALARM)
            for at, each in acted
            if self._specs[each.alarm].notifies and State.ALARM in {each.previous, each.state}
        ]


def _with_suppressors(specs: Iterable[Spec]) -> Iterator[Spec]:
    for spec in specs:
        if isinstance(spec, CompositeSpec) and spec.suppressed_by is not None:
            yield spec.suppressed_by
        yield spec


def definition(spec: Spec) -> Definition:
    """The alarm as PutMetricAlarm or PutCompositeAlarm is told of it."""
    if not isinstance(spec, AlarmSpec):
        return CompositeAlarm(name=spec.name, rule=parse_rule(spec.rule.render()), suppression=_suppression(spec))
    breaching, evaluated = spec.datapoints
    return MetricAlarm(
        name=spec.name,
        queries=_queries(spec),
        comparison=spec.comparison.value,
        threshold=spec.threshold,
        evaluation_periods=evaluated,
        datapoints_to_alarm=breaching,
        treat_missing=TreatMissing(spec.silence.value),
        warm_up=None if spec.warm_up_minutes is None else WarmUp(spec.warm_up_minutes),
    )


def _suppression(spec: CompositeSpec) -> Suppression | None:
    if spec.suppressed_by is None:
        return None
    return Suppression(spec.suppressed_by.name, SUPPRESSOR_WAIT_SECONDS, SUPPRESSOR_EXTENSION_SECONDS)


def _queries(spec: AlarmSpec) -> tuple[Query, ...]:
    ref = spec.metric
    if isinstance(ref, MetricRef):
        return (Query("m1", _stat(ref)),)
    expression = Query("expr_1", ref.expression)
    return (expression, *(Query(name, _stat(query), returns=False) for name, query in ref.queries))


def _stat(ref: MetricRef) -> MetricStat:
    return MetricStat(SeriesKey(ref.namespace, ref.name, frozenset(ref.dimensions)), ref.statistic, MINUTE)
