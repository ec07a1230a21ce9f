"""Series in memory, sample by sample: what selectors find, and no more than they can look back at."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, cast

from local.alarm_evaluation.promql.nodes import Labels, Matcher, Selector

# Samples beyond the horizon are dropped when so many have come, not one by one.
_TRIM_AT: Final = 64


class Series:
    """The samples of one series in the order of their times; None marks that it ended (Prometheus, "Staleness")."""

    __slots__ = ("_trim_at", "labels", "times", "values")

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.times: list[float] = []
        self.values: list[float | None] = []
        self._trim_at = _TRIM_AT

    def add(self, at: float, value: float | None, horizon: float) -> None:
        """Keep a sample; of two at one time the first, as Prometheus does."""
        times = self.times
        if times and at <= times[-1]:
            index = bisect_left(times, at)
            if times[index] != at:
                times.insert(index, at)
                self.values.insert(index, value)
            return
        times.append(at)
        self.values.append(value)
        if len(times) >= self._trim_at:
            old = bisect_left(times, at - horizon)
            del times[:old], self.values[:old]
            self._trim_at = len(times) + _TRIM_AT

    def newest(self, after: float, until: float, *, left_open: bool) -> tuple[float, float] | None:
        """Time and value of the last sample in the span; None where there is none or the series has ended."""
        index = bisect_right(self.times, until) - 1
        if index < 0:
            return None
        at, value = self.times[index], self.values[index]
        if value is None or at < after or (left_open and at == after):
            return None
        return at, value

    def within(self, after: float, until: float, *, left_open: bool) -> Sequence[float]:
        """The values of the span; an end of the series is no value."""
        first = bisect_right(self.times, after) if left_open else bisect_left(self.times, after)
        found = self.values[first : bisect_right(self.times, until)]
        return cast("list[float]", found) if None not in found else [each for each in found if each is not None]


class SeriesStore:
    """Takes samples in any order of time. ``horizon`` is how many seconds back an evaluation may look."""

    def __init__(self, horizon: float = float("inf")) -> None:
        self._horizon = horizon
        self._series: dict[str, dict[Labels, Series]] = {}
        self._selected: dict[str, dict[tuple[Matcher, ...], list[Series]]] = {}

    def put(self, metric: str, labels: Labels, at: float, value: float | None) -> None:
        """Keep a sample; ``labels`` have the metric's name too. None says that the series has ended."""
        of_metric = self._series.setdefault(metric, {})
        series = of_metric.get(labels)
        if series is None:
            series = of_metric[labels] = Series(labels)
            for matchers, found in self._selected.get(metric, {}).items():
                if Selector(metric, matchers).takes(dict(labels)):
                    found.append(series)
        series.add(at, value, self._horizon)

    def select(self, selector: Selector) -> Sequence[Series]:
        """Every series that the selector takes."""
        known = self._selected.setdefault(selector.metric, {})
        found = known.get(selector.matchers)
        if found is None:
            of_metric = self._series.get(selector.metric, {}).values()
            found = [series for series in of_metric if selector.takes(dict(series.labels))]
            known[selector.matchers] = found
        return found
