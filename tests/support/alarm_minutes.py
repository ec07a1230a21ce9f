"""An alarm over recorded minutes: the spec's own expression and CloudWatch's rules, without any AWS."""

from collections.abc import Mapping, Sequence

from fleet.alarms import AlarmSpec, MathRef
from local.alarm_evaluation import State, evaluate, evaluation_range
from local.alarm_evaluation.metric_math.functions import Grid
from local.alarm_evaluation.metric_math.syntax import parse

Minute = Mapping[str, float]
"""What was published in a minute, by the metric's name. A metric that is not there was not published. Where an
expression reads one metric of two places, its own name for the series says which."""


def states(spec: AlarmSpec, minutes: Sequence[Minute], before: State = State.INSUFFICIENT_DATA) -> list[State]:
    """The alarm's state after each minute."""
    found: list[State] = []
    breaching, evaluated = spec.datapoints
    for end in range(1, len(minutes) + 1):
        start = end - evaluation_range(evaluated)
        datapoints = [None] * max(0, -start) + _datapoints(spec, minutes[max(0, start) : end])
        before = evaluate(
            datapoints,
            comparison=spec.comparison,
            threshold=spec.threshold,
            evaluation_periods=evaluated,
            datapoints_to_alarm=breaching,
            treat_missing=spec.silence,
            previous_state=before,
        ).state
        found.append(before)
    return found


def last_state(spec: AlarmSpec, *spells: tuple[int, Minute], before: State = State.INSUFFICIENT_DATA) -> State:
    """The state after ``spells``, each a number of minutes and what was published in all of them."""
    return states(spec, [minute for count, minute in spells for _ in range(count)], before)[-1]


def _datapoints(spec: AlarmSpec, minutes: Sequence[Minute]) -> list[float | None]:
    if not isinstance(spec.metric, MathRef):
        return [minute.get(spec.metric.name) for minute in minutes]
    times = tuple(range(0, 60 * len(minutes), 60))
    series = {
        identifier: {
            time: minute.get(identifier, minute.get(ref.name, 0.0))
            for time, minute in zip(times, minutes, strict=True)
            if {identifier, ref.name} & minute.keys()
        }
        for identifier, ref in spec.metric.queries
    }
    grid = Grid(times, 60, series, tuple(series), lambda *_: [])
    value = grid.evaluate(parse(spec.metric.expression))
    assert isinstance(value, dict)
    return [value.get(time) for time in times]
