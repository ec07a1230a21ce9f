"""What an expression is made of: numbers, series, arrays of series; and the operators between them.

Source: "Basic arithmetic functions" and "Comparison and logical operators" of "Using metric math" in the CloudWatch
User Guide: where only one of two series has a datapoint, the other counts as 0; a division by zero drops the datapoint.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Final

from local.alarm_evaluation.metric_math.syntax import MathError
from local.alarm_evaluation.statistics import Series

Labelled = tuple[str, Series]
Value = float | Series | list[Labelled]
Apply = Callable[[float, float], float | None]

OPERATORS: Final[Mapping[str, Apply]] = {
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


def combine(apply: Apply, left: Value, right: Value) -> Value:
    """An operator between two values; an array takes it series by series. Raises ``MathError``."""
    if isinstance(left, list) and isinstance(right, list):
        raise MathError("metric math: an operator between two arrays")
    if isinstance(left, list):
        return [(label, _pairwise(apply, each, right)) for label, each in left if not isinstance(right, list)]
    if isinstance(right, list):
        return [(label, _pairwise(apply, left, each)) for label, each in right]
    if isinstance(left, dict) or isinstance(right, dict):
        return _pairwise(apply, left, right)
    scalar = apply(left, right)
    return {} if scalar is None else scalar


def _pairwise(apply: Apply, left: float | Series, right: float | Series) -> Series:
    times = sorted({time for side in (left, right) if isinstance(side, dict) for time in side})
    results = {time: apply(_at(left, time), _at(right, time)) for time in times}
    return {time: result for time, result in results.items() if result is not None}


def _at(side: float | Series, time: int) -> float:
    return side.get(time, 0.0) if isinstance(side, dict) else side


def each_series(change: Callable[[Series], Series], value: Value) -> Value:
    """A function of one series, for a series or for each of an array."""
    if isinstance(value, list):
        return [(label, change(series)) for label, series in value]
    if isinstance(value, dict):
        return change(value)
    raise MathError("metric math: a number where a time series is needed")
