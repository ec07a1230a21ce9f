"""Operators between values, and aggregations of many values to one, as Prometheus calculates them.

Go's division and powers have no exceptions: what is undefined is NaN or infinite (Prometheus, ``promql/engine.go``).
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final

SETS: Final = frozenset({"and", "or", "unless"})


def _divided(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _modulo(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def _power(left: float, right: float) -> float:
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ValueError:
        if left != 0:
            return math.nan
        return math.copysign(math.inf, left) if right % 2 == 1 else math.inf


ARITHMETIC: Final[Mapping[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _modulo,
    "^": _power,
}
COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS: Final = frozenset({*ARITHMETIC, *COMPARISONS, *SETS})


def lowest(values: Sequence[float]) -> float:
    """The least; NaN only where there is nothing else."""
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def highest(values: Sequence[float]) -> float:
    """The most; NaN only where there is nothing else."""
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def total(values: Sequence[float]) -> float:
    """The sum with Neumaier's compensation, as Prometheus adds over time."""
    found = lost = 0.0
    for value in values:
        after = found + value
        lost += (found - after) + value if abs(found) >= abs(value) else (value - after) + found
        found = after
    return found if math.isinf(found) else found + lost


def mean(values: Sequence[float]) -> float:
    """The average of at least one value."""
    return total(values) / len(values)


def quantile(values: Sequence[float], part: float) -> float:
    """The quantile between the two nearest ranks; NaN counts as the least."""
    if not values or math.isnan(part):
        return math.nan
    if not 0 <= part <= 1:
        return -math.inf if part < 0 else math.inf
    ordered = sorted(values, key=lambda value: (not math.isnan(value), value))
    rank = part * (len(ordered) - 1)
    low = math.floor(rank)
    high = min(len(ordered) - 1, low + 1)
    weight = rank - low
    return ordered[low] * (1 - weight) + ordered[high] * weight


AGGREGATIONS: Final[Mapping[str, Callable[[Sequence[float], float], float]]] = {
    "sum": lambda values, _: total(values),
    "min": lambda values, _: lowest(values),
    "max": lambda values, _: highest(values),
    "avg": lambda values, _: mean(values),
    "count": lambda values, _: float(len(values)),
    "group": lambda _values, _: 1.0,
    "quantile": quantile,
}
