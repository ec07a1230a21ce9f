"""CloudWatch's statistics over the datums of one period: what Average, Maximum or p10 mean for each shape of datum.

What a metric is to an alarm: a key, and one number for each period that has data.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

Series = dict[int, float]
"""Value by the start of its period, in unix seconds; a period without data has no entry."""


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """A metric's identity: CloudWatch treats every different set of dimensions as another metric."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Iterable[Mapping[str, str]]) -> "SeriesKey":
        """From the API's list of ``{"Name", "Value"}``."""
        return cls(namespace, name, frozenset((each["Name"], each["Value"]) for each in dimensions))

    def dimension_list(self) -> list[dict[str, str]]:
        """The API's list of dimensions, in a stable order."""
        return [{"Name": name, "Value": value} for name, value in sorted(self.dimensions)]


class SeriesSource(Protocol):
    """Where datapoints come from."""

    def values(
        self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
    ) -> Series:
        """``statistic`` of each ``period`` seconds of ``[start, end)``; the first period begins at ``start``.

        ``unit`` leaves out datums of another unit. A series that does not exist is empty.
        """


_PERCENTILE = re.compile(r"^p(\d{1,2}(?:\.\d{1,10})?|100)$")
_RANK = re.compile(r"^PR\((?P<low>\d+(?:\.\d+)?)?:(?P<high>\d+(?:\.\d+)?)?\)$")


@dataclass(frozen=True, slots=True)
class Datum:
    """One stored datum.

    ``values`` are (value, count) pairs; a statistic set has none, because the API was never told its values.
    """

    sample_count: float
    total: float
    minimum: float
    maximum: float
    values: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of_values(cls, values: Sequence[float], counts: Sequence[float] | None = None) -> "Datum":
        """From a single value, or from the Values and Counts of a distribution (a count is 1 unless given)."""
        if len(values) == 1 and not counts:
            (value,) = values
            return cls(1.0, value * 1.0, value, value, ((value, 1.0),))
        pairs = tuple(zip(values, counts or [1.0] * len(values), strict=True))
        return cls(
            sample_count=sum(count for _, count in pairs),
            total=sum(value * count for value, count in pairs),
            minimum=min(values),
            maximum=max(values),
            values=pairs,
        )


_SIMPLE: Final[Mapping[str, Callable[[Sequence[Datum]], float]]] = {
    "Average": lambda datums: sum(datum.total for datum in datums) / sum(datum.sample_count for datum in datums),
    "Sum": lambda datums: sum(datum.total for datum in datums),
    "SampleCount": lambda datums: sum(datum.sample_count for datum in datums),
    "Minimum": lambda datums: min(datum.minimum for datum in datums),
    "Maximum": lambda datums: max(datum.maximum for datum in datums),
}


def is_statistic(name: str) -> bool:
    """Whether ``statistic`` knows the name."""
    return name in _SIMPLE or any(form.match(name) for form in (_PERCENTILE, _RANK))


def statistic(datums: Iterable[Datum], name: str) -> float | None:
    """The statistic of a period, or ``None`` without data.

    A percentile of a statistic set is unknown too, unless all its samples are equal (CloudWatch API reference,
    "StatisticSet": min and max equal, or one sample).
    """
    present = [datum for datum in datums if datum.sample_count > 0]
    if not present:
        return None
    if name in _SIMPLE:
        return _SIMPLE[name](present)
    if match := _PERCENTILE.match(name):
        return _percentile(_pairs(present), float(match[1]))
    if match := _RANK.match(name):
        return _rank(_pairs(present), float(match["low"] or -math.inf), float(match["high"] or math.inf))
    raise ValueError(f"statistic {name!r}: not one of Average, Sum, SampleCount, Minimum, Maximum, pNN, PR(low:high)")


def _pairs(datums: Sequence[Datum]) -> list[tuple[float, float]] | None:
    """The samples as (value, count) in order; ``None`` when a statistic set keeps them to itself."""
    pairs: list[tuple[float, float]] = []
    for datum in datums:
        if datum.values:
            pairs.extend(datum.values)
        elif datum.minimum == datum.maximum:
            pairs.append((datum.minimum, datum.sample_count))
        else:
            return None
    return sorted(pairs)


def _rank(pairs: Sequence[tuple[float, float]] | None, low: float, high: float) -> float | None:
    """The percentage of samples above ``low`` and not above ``high`` ("CloudWatch statistics definitions")."""
    if pairs is None:
        return None
    inside = sum(count for value, count in pairs if low < value <= high)
    return 100 * inside / sum(count for _, count in pairs)


def _percentile(pairs: Sequence[tuple[float, float]] | None, percent: float) -> float | None:
    """The smallest value that at least ``percent`` of the samples do not exceed."""
    if pairs is None:
        return None
    rank = max(percent / 100 * sum(count for _, count in pairs), math.ulp(0.0))
    seen = 0.0
    for value, count in pairs:
        seen += count
        if seen >= rank - 1e-9:
            return value
    return pairs[-1][0]
