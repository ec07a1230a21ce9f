"""Random sets of alarms, in the evaluator's form and in that of ``alarm_reference``."""

import random
from collections.abc import Callable, Mapping, Sequence

from local.alarm_evaluation import (
    Action,
    AlarmSet,
    CompositeAlarm,
    Definition,
    MetricAlarm,
    Series,
    SeriesKey,
    Suppression,
    TreatMissing,
    WarmUp,
)
from local.alarm_evaluation.composite_rules import parse_rule
from local.alarm_evaluation.metric_math.queries import MetricStat, Query
from local.alarm_evaluation.schedules import Once
from local.alarm_evaluation.statistics import Datum
from local.alarm_evaluation.statistics import statistic as statistic_of
from local.alarm_evaluation.suppression import MuteRule
from tests.support import alarm_reference as reference

MINUTES = 24
MINUTE = 60
Values = Mapping[int, list[float]]
Point = Callable[[Callable[[str], "float | None"]], "float | None"]


def _zero(value: float | None) -> float:
    return 0.0 if value is None else value


def _pair(apply: Callable[[float, float], float | None]) -> Point:
    """An operator of two series: without either there is no datapoint, without one it counts as 0."""

    def point(at: Callable[[str], float | None]) -> float | None:
        left, right = at("a"), at("b")
        return None if left is None and right is None else apply(_zero(left), _zero(right))

    return point


def _chosen(at: Callable[[str], float | None]) -> float | None:
    """IF(a > 5, b, c) by the guide's table."""
    if at("a") is None:
        return None
    return _zero(at("b")) if _zero(at("a")) > 5 else at("c")


def _both(at: Callable[[str], float | None]) -> float | None:
    """10 * (a >= 5 AND b < 5): a comparison with a number keeps the series' holes, AND fills the other side with 0."""
    if at("a") is None and at("b") is None:
        return None
    holds = at("a") is not None and _zero(at("a")) >= 5 and at("b") is not None and _zero(at("b")) < 5
    return 10.0 * holds


# Expressions, and their value in one minute by hand.
EXPRESSIONS: Mapping[str, Point] = {
    "a + b": _pair(lambda a, b: a + b),
    "a - b": _pair(lambda a, b: a - b),
    "100 * a / b": _pair(lambda a, b: 100 * a / b if b else None),
    "a > b": _pair(lambda a, b: float(a > b)),
    "10 * (a >= 5 AND b < 5)": _both,
    "IF(a > 5, b, c)": _chosen,
    "IF(a > 5, b)": lambda at: None if at("a") is None or _zero(at("a")) <= 5 else _zero(at("b")),
    "IF(FILL(a, 0) > 5 OR FILL(b, 9) < 2, 10, 0)": lambda at: (
        10.0 if _zero(at("a")) > 5 or (9.0 if at("b") is None else _zero(at("b"))) < 2 else 0.0
    ),
    "SUM([a, b, c])": lambda at: (
        None if {at("a"), at("b"), at("c")} == {None} else sum(_zero(at(name)) for name in "abc")
    ),
    "AVG(METRICS())": lambda at: (
        None if {at("a"), at("b"), at("c")} == {None} else sum(_zero(at(name)) for name in "abc") / 3
    ),
    "MAX([a, b])": lambda at: max((v for v in (at("a"), at("b")) if v is not None), default=None),
    "ABS(a - 5)": lambda at: None if at("a") is None else abs(_zero(at("a")) - 5),
}


class _Source:
    """Datums of several samples a minute, by metric."""

    def __init__(self, samples: Mapping[str, Values]) -> None:
        self._datums = {
            (name, minute): Datum.of_values(sorted(set(values)), [float(values.count(v)) for v in sorted(set(values))])
            for name, by_minute in samples.items()
            for minute, values in by_minute.items()
        }
        self._known: dict[tuple[str, int, str], float | None] = {}

    def values(
        self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
    ) -> Series:
        found = {time: self._value(key.name, time // MINUTE, statistic) for time in range(start, end, period)}
        return {time: value for time, value in found.items() if value is not None}

    def _value(self, name: str, minute: int, statistic: str) -> float | None:
        if (name, minute) not in self._datums:
            return None
        if (name, minute, statistic) not in self._known:
            self._known[name, minute, statistic] = statistic_of([self._datums[name, minute]], statistic)
        return self._known[name, minute, statistic]


def _value(samples: Values, minute: int, name: str) -> float | None:
    values = samples.get(minute)
    if not values:
        return None
    if name.startswith("p"):
        return reference.percentile(values, float(name[1:]))
    return {"Average": sum(values) / len(values), "Maximum": max(values), "Minimum": min(values)}[name]


class Case:
    """One random set of alarms, in both forms."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  cases that can be had again
        chance = self.random.choice([0.0, 0.2, 0.5, 0.8])
        self.samples = {
            name: {
                minute: [float(self.random.randint(0, 10)) for _ in range(self.random.randint(1, 4))]
                for minute in range(MINUTES)
                if self.random.random() >= chance
            }
            for name in "abc"
        }
        pairs = [self._alarm(f"m{index}") for index in range(3)]
        self.alarms, self.references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        self.composites: list[CompositeAlarm] = []
        self.composite_references: list[reference.ReferenceComposite] = []
        for index in range(2):
            self._add_composite(f"c{index}")
        self.windows = [
            (self.random.choice(["m0", "m1", "c0", "c1"]), start, start + self.random.randint(1, 8))
            for start in self.random.sample(range(1, MINUTES), 2)
        ]

    def _alarm(self, name: str) -> tuple[MetricAlarm, reference.ReferenceAlarm]:
        choose = self.random.choice
        stat = choose(["Average", "Maximum", "Minimum", "p50", "p90", "p10"])
        expression = choose([None, *EXPRESSIONS])
        metrics = tuple(
            Query(each, MetricStat(SeriesKey("N", each, frozenset()), stat), returns=expression is None and each == "a")
            for each in "abc"
        )
        queries = metrics if expression is None else (*metrics, Query("e1", expression))
        periods = self.random.randint(1, 5)
        needed = self.random.randint(1, periods)
        comparison, threshold = choose(list(reference.BREACHES)), float(self.random.randint(2, 8))
        treatment = choose([each.value for each in TreatMissing])
        warm_up = choose([None, None, self.random.randint(1, 12)])
        whole = choose([True, False])
        alarm = MetricAlarm(
            name=name,
            queries=queries,
            comparison=comparison,
            threshold=threshold,
            evaluation_periods=periods,
            datapoints_to_alarm=needed,
            treat_missing=TreatMissing(treatment),
            warm_up=None if warm_up is None else WarmUp(warm_up, whole=whole),
        )
        point: Point = (lambda at: at("a")) if expression is None else EXPRESSIONS[expression]

        def points(minutes: range) -> Sequence[float | None]:
            return [point(lambda each, now=minute: _value(self.samples[each], now, stat)) for minute in minutes]  # type: ignore[misc]  # a lambda's default binds the minute

        return alarm, reference.ReferenceAlarm(
            name, points, comparison, threshold, needed, periods, treatment, warm_up, whole
        )

    def _add_composite(self, name: str) -> None:
        known = [*(alarm.name for alarm in self.alarms), *(composite.name for composite in self.composites)]
        text, holds = self._rule(known, 2)
        suppressor = self.random.choice([None, *known])
        wait, extension = self.random.randint(0, 4), self.random.randint(0, 4)
        suppression = None if suppressor is None else Suppression(suppressor, wait * MINUTE, extension * MINUTE)
        self.composites.append(CompositeAlarm(name=name, rule=parse_rule(text), suppression=suppression))
        self.composite_references.append(reference.ReferenceComposite(name, holds, suppressor, wait, extension))

    def _rule(self, known: Sequence[str], depth: int) -> tuple[str, Callable[[Mapping[str, str]], bool]]:
        kind = self.random.choice(["state", "not", "and", "or", "least"] if depth else ["state"])
        if kind == "state":
            state, alarm = self.random.choice(["ALARM", "OK", "INSUFFICIENT_DATA"]), self.random.choice(known)
            return f'{state}("{alarm}")', lambda states: states[alarm] == state
        if kind == "least":
            return self._at_least(known)
        left, left_holds = self._rule(known, depth - 1)
        if kind == "not":
            return f"NOT ({left})", lambda states: not left_holds(states)
        right, right_holds = self._rule(known, depth - 1)
        if kind == "and":
            return f"({left}) AND ({right})", lambda states: left_holds(states) and right_holds(states)
        return f"({left}) OR ({right})", lambda states: left_holds(states) or right_holds(states)

    def _at_least(self, known: Sequence[str]) -> tuple[str, Callable[[Mapping[str, str]], bool]]:
        alarms = self.random.sample(known, self.random.randint(1, len(known)))
        state, negated = self.random.choice(["ALARM", "OK"]), self.random.choice([True, False])
        number, percent = self.random.randint(1, len(alarms)), self.random.randint(1, 100)
        is_percent = self.random.choice([True, False])
        needed = reference.ceiling_rank(percent, len(alarms)) if is_percent else number
        text = f"AT_LEAST({f'{percent}%' if is_percent else number}, {'NOT ' * negated}{state}, ({', '.join(alarms)}))"
        return text, lambda states: len([a for a in alarms if (states[a] == state) != negated]) >= needed

    def evaluated(self) -> reference.ReferenceHistory:
        """What the evaluator says, minute by minute."""
        alarms = AlarmSet(_Source(self.samples))
        definitions: list[Definition] = [*self.alarms, *self.composites]
        for definition in definitions:
            alarms.put(definition, 0)
        for index, (name, start, end) in enumerate(self.windows):
            opening, length = Once(start * MINUTE), (end - start) * MINUTE
            alarms.mute(MuteRule(name=f"r{index}", schedule=opening, seconds=length, alarms=frozenset({name})))
        history = reference.ReferenceHistory({name: [state.value] for name, state in alarms.states().items()})
        for now in range(1, MINUTES + 1):
            for event in alarms.advance(now * MINUTE):
                if isinstance(event, Action):
                    history.actions.append((now, event.alarm, event.change.state.value))
            for name, state in alarms.states().items():
                history.states[name].append(state.value)
        return history

    def expected(self) -> reference.ReferenceHistory:
        """What the reference says."""

        def muted(name: str, now: int) -> bool:
            return any(name == target and start <= now < end for target, start, end in self.windows)

        return reference.replay(self.references, self.composite_references, muted, MINUTES)
