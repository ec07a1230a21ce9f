"""The functions of PromQL that are evaluated here: what they make of the values of a range, or of each value."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from local.alarm_evaluation.promql.operators import highest, lowest, mean, total

OVER_TIME: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "avg_over_time": mean,
    "count_over_time": lambda values: float(len(values)),
    "last_over_time": lambda values: values[-1],
    "max_over_time": highest,
    "min_over_time": lowest,
    "present_over_time": lambda _: 1.0,
    "sum_over_time": total,
}
QUANTILE_OVER_TIME: Final = "quantile_over_time"
# The only one whose result is still the metric: it is a selector that looks further back.
KEEPS_NAME: Final = "last_over_time"


def _least(left: float, right: float) -> float:
    # As Go's math.Min: nothing is below minus infinity, and of a number and NaN it is NaN.
    if -math.inf in {left, right}:
        return -math.inf
    return math.nan if math.isnan(left) or math.isnan(right) else min(left, right)


def _most(left: float, right: float) -> float:
    return -_least(-left, -right)


CLAMPS: Final[Mapping[str, Callable[..., float]]] = {
    "clamp": lambda value, low, high: _most(low, _least(high, value)),
    "clamp_max": _least,
    "clamp_min": _most,
}
FUNCTIONS: Final = frozenset(
    {*OVER_TIME, QUANTILE_OVER_TIME, *CLAMPS, "absent", "absent_over_time", "time", "timestamp", "vector"}
)
