"""Every metric's datums as they were published: one series per exact set of dimensions, one slot per minute."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fleet.metric_statistics import Datum, statistic

MINUTE: Final = 60


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
        self, key: SeriesKey, name: str, start: float, end: float, period: int, unit: str | None = None
    ) -> dict[int, float]:
        """The statistic ``name`` per period of ``[start, end)``, aligned to the period; no data, no entry."""
        series = self._series.get(key)
        if series is None:
            return {}
        found: dict[int, float] = {}
        first = int(start // period * period)
        for begin in range(first, _ceil(end), period):
            value = statistic(self._datums(series, begin, min(begin + period, _ceil(end)), unit), name)
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


def _ceil(seconds: float) -> int:
    whole = int(seconds)
    return whole if whole == seconds else whole + 1
