"""Every metric's datums as they were published: one series per exact set of dimensions, one slot per minute."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.alarm_evaluation.statistics import statistic as statistic_of

MINUTE: Final = 60


@dataclass(slots=True)
class _Series:
    minutes: dict[int, list[tuple[str, Datum]]] = field(default_factory=dict)


class MetricStore:
    """The metrics of one region. High-resolution data is kept by the minute, as CloudWatch does after three hours."""

    def __init__(self) -> None:
        self._series: dict[SeriesKey, _Series] = {}
        self._lock = threading.Lock()
        self.datums = 0

    def put(self, key: SeriesKey, timestamp: float, unit: str, datum: Datum) -> None:
        """Store one datum at unix ``timestamp``; a second one for the same minute is kept beside the first."""
        minute = int(timestamp // MINUTE * MINUTE)
        with self._lock:
            self._series.setdefault(key, _Series()).minutes.setdefault(minute, []).append((unit, datum))
            self.datums += 1

    def all_series(self) -> Sequence[SeriesKey]:
        """All series, in the order of their first datum."""
        with self._lock:
            return list(self._series)

    def values(
        self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
    ) -> dict[int, float]:
        """The statistic per period of ``[start, end)``, the first of which begins at ``start``; no data, no entry."""
        series = self._series.get(key)
        if series is None:
            return {}
        found: dict[int, float] = {}
        for begin in range(start, end, period):
            value = statistic_of(self._datums(series, begin, min(begin + period, end), unit), statistic)
            if value is not None:
                found[begin] = value
        return found

    def _datums(self, series: _Series, start: int, end: int, unit: str | None) -> list[Datum]:
        return [
            datum
            for minute in range(start, end, MINUTE)
            for stored_unit, datum in series.minutes.get(minute, ())
            if unit is None or unit == stored_unit
        ]
