"""Alarms as data, for the linter."""

from collections.abc import Iterable

from environments.alarm_linter.watched import Alarm, Composite, Series, Watched
from fleet import metrics
from fleet.alarms import AlarmSpec, CompositeSpec, MathRef, MetricRef, Spec, alarms_in


def of_specs(specs: Iterable[Spec]) -> Watched:
    """What ``specs`` will be once they are rendered."""
    every = tuple(specs)
    return Watched(
        alarms=tuple(_alarm(spec) for spec in every if isinstance(spec, AlarmSpec)),
        composites=tuple(_composite(spec) for spec in every if isinstance(spec, CompositeSpec)),
    )


def _alarm(spec: AlarmSpec) -> Alarm:
    refs = tuple(ref for _, ref in spec.metric.queries) if isinstance(spec.metric, MathRef) else (spec.metric,)
    return Alarm(
        name=spec.name,
        notifies=spec.notifies,
        series=tuple(_series(ref) for ref in refs),
        expressions=(spec.metric.expression,) if isinstance(spec.metric, MathRef) else (),
        datapoints=spec.datapoints,
        minutes=spec.datapoints[1] * metrics.PERIOD_SECONDS // 60,
    )


def _series(ref: MetricRef) -> Series:
    return Series(ref.namespace, ref.name, dict(ref.dimensions))


def _composite(spec: CompositeSpec) -> Composite:
    return Composite(
        name=spec.name,
        notifies=spec.notifies,
        rule=spec.rule.render(),
        children=tuple(alarm.name for alarm in alarms_in(spec.rule)),
        suppressor=spec.suppressed_by.name if spec.suppressed_by else None,
    )
