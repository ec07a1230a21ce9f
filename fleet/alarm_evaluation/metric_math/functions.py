"""What metric math means: operators and functions over time series, on the grid of one request.

Source: the function table of "Using math expressions with CloudWatch metrics". Functions that this platform's alarms
and dashboards do not use are refused by name.
"""

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fleet.alarm_evaluation.metric_math import syntax
from fleet.alarm_evaluation.metric_math.syntax import MathError
from fleet.alarm_evaluation.series import Series

Labelled = tuple[str, Series]
Value = float | Series | list[Labelled]

_OPERATORS: Final[Mapping[str, Callable[[float, float], float | None]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b if b else None,
    "^": operator.pow,
    "<": lambda a, b: float(a < b),
    ">": lambda a, b: float(a > b),
    "<=": lambda a, b: float(a <= b),
    ">=": lambda a, b: float(a >= b),
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "AND": lambda a, b: float(bool(a) and bool(b)),
    "OR": lambda a, b: float(bool(a) or bool(b)),
}
_REDUCERS: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "AVG": lambda values: sum(values) / len(values),
    "MAX": max,
    "MIN": min,
    "SUM": sum,
}
_ROUNDING: Final[Mapping[str, Callable[[float], float]]] = {"ABS": abs, "CEIL": math.ceil, "FLOOR": math.floor}


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
                return _combine(operator.mul, -1.0, self.evaluate(operand))
            case syntax.Operation(symbol, left, right):
                return _combine(_OPERATORS[symbol], self.evaluate(left), self.evaluate(right))
            case syntax.Array(items):
                return [("", self._series(self.evaluate(item))) for item in items]
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
            return self._fill(self.evaluate(arguments[0]), arguments[1])
        if function == "IF" and len(arguments) in (2, 3):
            return self._if(*(self._series(self.evaluate(argument)) for argument in arguments))
        if function == "PERIOD":
            return float(self.period)
        if len(arguments) == 1:
            return self._of_one(function, self.evaluate(arguments[0]))
        raise MathError(f"metric math: {function} with {len(arguments)} arguments is not supported here")

    def _of_one(self, function: str, value: Value) -> Value:
        if function in _REDUCERS:
            return _reduce(_REDUCERS[function], value)
        if function in _ROUNDING:
            return _combine(lambda each, _: _ROUNDING[function](each), value, 0.0)
        if function in ("RATE", "DIFF"):
            return _differences(self._series(value), per_second=function == "RATE")
        if function == "RUNNING_SUM":
            return self._running(value)
        if function == "TIME_SERIES":
            return self._series(value)
        if function == "METRIC_COUNT" and isinstance(value, list):
            return float(len(value))
        raise MathError(f"metric math: {function} is not supported here")

    def _running(self, value: Value) -> Value:
        if isinstance(value, list):
            return [(label, _running_sum(series)) for label, series in value]
        return _running_sum(self._series(value))

    def _series(self, value: Value) -> Series:
        if isinstance(value, list):
            raise MathError("metric math: an array of time series where one time series is needed")
        return value if isinstance(value, dict) else dict.fromkeys(self.times, value)

    def _fill(self, value: Value, filling: syntax.Node) -> Value:
        if isinstance(value, list):
            return [(label, self._filled(series, filling)) for label, series in value]
        return self._filled(self._series(value), filling)

    def _filled(self, series: Series, filling: syntax.Node) -> Series:
        if filling == syntax.Reference("REPEAT"):
            filled: Series = {}
            for time in self.times:
                last = series.get(time, filled.get(time - self.period))
                if last is not None:
                    filled[time] = last
            return filled
        if filling == syntax.Reference("LINEAR"):
            raise MathError("metric math: FILL with LINEAR is not supported here")
        return {**self._series(self.evaluate(filling)), **series}

    def _if(self, condition: Series, when_true: Series, when_false: Series | None = None) -> Series:
        chosen: Series = {}
        for time, truth in condition.items():
            source = when_true if truth else when_false or {}
            if time in source:
                chosen[time] = source[time]
        return chosen


def _combine(apply: Callable[[float, float], float | None], left: Value, right: Value) -> Value:
    if isinstance(left, list) and isinstance(right, list):
        raise MathError("metric math: an operator between two arrays")
    if isinstance(left, list):
        return [(label, _pairwise(apply, each, right)) for label, each in left if not isinstance(right, list)]
    if isinstance(right, list):
        return [(label, _pairwise(apply, left, each)) for label, each in right]
    if isinstance(left, dict) or isinstance(right, dict):
        return _pairwise(apply, left, right)
    scalar = apply(left, right)
    if scalar is None:
        raise MathError("metric math: division of two numbers by zero")
    return scalar


def _pairwise(apply: Callable[[float, float], float | None], left: float | Series, right: float | Series) -> Series:
    """One series: a period counts only when every operand that is a series has a datapoint in it."""
    times = left if isinstance(left, dict) else right if isinstance(right, dict) else {}
    combined: Series = {}
    for time in times:
        a = left.get(time) if isinstance(left, dict) else left
        b = right.get(time) if isinstance(right, dict) else right
        result = None if a is None or b is None else apply(a, b)
        if result is not None:
            combined[time] = result
    return combined


def _reduce(apply: Callable[[Sequence[float]], float], value: Value) -> Value:
    """An array becomes one series, period by period; one series becomes a number."""
    if isinstance(value, list):
        times = sorted({time for _, series in value for time in series})
        return {time: apply([series[time] for _, series in value if time in series]) for time in times}
    if isinstance(value, dict):
        return apply(list(value.values())) if value else {}
    return value


def _running_sum(series: Series) -> Series:
    times = sorted(series)
    return dict(zip(times, itertools.accumulate(series[time] for time in times), strict=True))


def _differences(series: Series, *, per_second: bool) -> Series:
    return {
        time: (series[time] - series[before]) / ((time - before) if per_second else 1)
        for before, time in itertools.pairwise(sorted(series))
    }
