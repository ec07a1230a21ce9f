"""What the functions of metric math mean, on the grid of one request.

Source: "Functions supported for metric math" and "Using IF expressions" of "Using metric math" in the CloudWatch User
Guide. Functions that this platform's alarms and dashboards do not use are refused by name.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from local.alarm_evaluation.metric_math import syntax
from local.alarm_evaluation.metric_math.syntax import MathError
from local.alarm_evaluation.metric_math.values import OPERATORS, Labelled, Value, combine, each_series
from local.alarm_evaluation.statistics import Series

_REDUCERS: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "AVG": lambda values: sum(values) / len(values),
    "MAX": max,
    "MIN": min,
    "SUM": sum,
    "DATAPOINT_COUNT": len,
}
_ROUNDING: Final[Mapping[str, Callable[[float], float]]] = {"ABS": abs, "CEIL": math.ceil, "FLOOR": math.floor}


def _differences(series: Series, *, per_second: bool) -> Series:
    return {
        time: (series[time] - series[before]) / ((time - before) if per_second else 1)
        for before, time in itertools.pairwise(sorted(series))
    }


def _running_sum(series: Series) -> Series:
    times = sorted(series)
    return dict(zip(times, itertools.accumulate(series[time] for time in times), strict=True))


_OF_SERIES: Final[Mapping[str, Callable[[Series], Series]]] = {
    "RATE": lambda series: _differences(series, per_second=True),
    "DIFF": lambda series: _differences(series, per_second=False),
    "RUNNING_SUM": _running_sum,
}


@dataclass(frozen=True, slots=True)
class Grid:
    """One request: the starts of its periods in order, the period in seconds, every query's value by Id.

    ``raw_metrics`` are the Ids that are metrics and not expressions; ``search`` answers SEARCH(expression, statistic).
    """

    times: tuple[int, ...]
    period: int
    metrics: Mapping[str, Value]
    raw_metrics: tuple[str, ...]
    search: Callable[[str, str], list[Labelled]]

    def evaluate(self, node: syntax.Node) -> Value:
        """The value of a parsed expression; raises ``MathError`` naming what it cannot do."""
        match node:
            case syntax.Number(value):
                return value
            case syntax.Reference(name):
                return self._reference(name)
            case syntax.Negation(operand):
                return combine(OPERATORS["*"], -1.0, self.evaluate(operand))
            case syntax.Operation(symbol, left, right):
                return combine(OPERATORS[symbol], self.evaluate(left), self.evaluate(right))
            case syntax.Array(items):
                return [member for item in items for member in self._members(self.evaluate(item))]
            case syntax.Call(function, arguments):
                return self._call(function, arguments)
            case syntax.Text(text):
                raise MathError(f"metric math: the string {text!r} is not a value")

    def _reference(self, name: str) -> Value:
        if name not in self.metrics:
            raise MathError(f"metric math: no query has the Id {name!r}")
        return self.metrics[name]

    def _call(self, function: str, arguments: tuple[syntax.Node, ...]) -> Value:
        texts = [argument.value for argument in arguments if isinstance(argument, syntax.Text)]
        if function == "METRICS":
            return [(each, self._series(self.metrics[each])) for each in self.raw_metrics if "".join(texts) in each]
        if function == "SEARCH" and len(texts) == 2:
            return self.search(texts[0], texts[1])
        if function == "FILL" and len(arguments) == 2:
            filling = arguments[1]
            return each_series(lambda series: self._filled(series, filling), self.evaluate(arguments[0]))
        if function == "IF" and len(arguments) in (2, 3):
            return self._if(*(self.evaluate(argument) for argument in arguments))
        if function == "PERIOD":
            return float(self.period)
        if len(arguments) == 1:
            return self._of_one(function, self.evaluate(arguments[0]))
        raise MathError(f"metric math: {function} with {len(arguments)} arguments is not supported here")

    def _of_one(self, function: str, value: Value) -> Value:
        if function in _REDUCERS:
            return _reduce(function, value)
        if function in _ROUNDING:
            return combine(lambda each, _: _ROUNDING[function](each), value, 0.0)
        if function in _OF_SERIES:
            return each_series(_OF_SERIES[function], value)
        if function == "TIME_SERIES":
            return self._series(value)
        if function == "METRIC_COUNT" and isinstance(value, list):
            return float(len(value))
        raise MathError(f"metric math: {function} is not supported here")

    def _series(self, value: Value) -> Series:
        if isinstance(value, list):
            raise MathError("metric math: an array of time series where one time series is needed")
        return value if isinstance(value, dict) else dict.fromkeys(self.times, value)

    def _members(self, value: Value) -> list[Labelled]:
        return value if isinstance(value, list) else [("", self._series(value))]

    def _filled(self, series: Series, filling: syntax.Node) -> Series:
        if filling == syntax.Reference("REPEAT"):
            filled: Series = {}
            for time in self.times:
                last = series.get(time, filled.get(time - self.period))
                if last is not None:
                    filled[time] = last
            return filled
        if filling == syntax.Reference("LINEAR"):
            return self._interpolated(series)
        return {**self._series(self.evaluate(filling)), **series}

    def _interpolated(self, series: Series) -> Series:
        """Gaps between two datapoints are filled along the line between them; before the first there is no line."""
        filled = dict(series)
        for before, after in itertools.pairwise(sorted(series)):
            slope = (series[after] - series[before]) / (after - before)
            filled |= {time: series[before] + slope * (time - before) for time in self.times if before < time < after}
        return filled

    def _if(self, condition: Value, when_true: Value, when_false: Value | None = None) -> Series:
        """Without a datapoint: a condition drops the period, a value chosen by TRUE is 0, one chosen by FALSE drops."""
        true, false = self._series(when_true), {} if when_false is None else self._series(when_false)
        if isinstance(condition, float):
            return true if condition else false
        chosen: Series = {}
        for time, truth in self._series(condition).items():
            if truth:
                chosen[time] = true.get(time, 0.0)
            elif time in false:
                chosen[time] = false[time]
        return chosen


def _reduce(function: str, value: Value) -> Value:
    """An array becomes one series, period by period; one series becomes a number."""
    apply = _REDUCERS[function]
    if isinstance(value, list):
        times = sorted({time for _, series in value for time in series})
        return {time: apply(_present(function, time, value)) for time in times}
    if isinstance(value, dict):
        return float(apply(list(value.values()))) if value else {}
    return value


def _present(function: str, time: int, array: Sequence[Labelled]) -> list[float]:
    """The array's values in one period; AVG counts a missing one as 0, as the guide says of it alone."""
    if function == "AVG":
        return [series.get(time, 0.0) for _, series in array]
    return [series[time] for _, series in array if time in series]
