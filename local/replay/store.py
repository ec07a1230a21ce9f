"""The metrics of a replay in memory, as far as they can be seen; statistics of a minute are worked out once."""

import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from local.alarm_evaluation import Series, SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.alarm_evaluation.statistics import statistic as statistic_of
from local.replay.delivery import Batch

MINUTE: Final = 60


class Point(NamedTuple):
    """One datum of PutMetricData, at its own ``minute``."""

    key: SeriesKey
    minute: int
    datum: Datum


def points(namespace: str, datums: Iterable[Mapping[str, Any]]) -> list[Point]:
    """Datums of PutMetricData's shape; ``Timestamp`` is unix seconds or ISO 8601."""
    return [
        Point(
            SeriesKey.of(namespace, datum["MetricName"], datum["Dimensions"]),
            _seconds(datum["Timestamp"]),
            _datum(datum),
        )
        for datum in datums
    ]


class Store:
    """Takes what is published and answers with what can be seen by now: a ``SeriesSource``."""

    def __init__(self) -> None:
        self._datums: dict[SeriesKey, dict[int, list[Datum]]] = {}
        self._known: dict[SeriesKey, dict[str, dict[int, float | None]]] = {}
        # By the second in which they can be seen, and those seconds as a heap.
        self._coming: dict[int, list[Point]] = {}
        self._moments: list[int] = []

    def take(self, found: Sequence[Point], batch: Batch) -> None:
        """Keep ``found`` until each of its datums can be seen."""
        for point in itertools.chain.from_iterable(itertools.repeat(found, batch.times)):
            moment = batch.visible_at()
            if moment not in self._coming:
                self._coming[moment] = []
                heapq.heappush(self._moments, moment)
            at = point._replace(minute=point.minute + batch.offset) if batch.offset else point
            self._coming[moment].append(at)

    def reveal(self, now: float) -> None:
        """Let time go on to unix second ``now``: whatever has come by then fills its own minute."""
        while self._moments and self._moments[0] <= now:
            for key, minute, datum in self._coming.pop(heapq.heappop(self._moments)):
                self._datums.setdefault(key, {}).setdefault(minute, []).append(datum)
                for known in self._known.get(key, {}).values():
                    known.pop(minute, None)

    def named(self, metric: str) -> list[SeriesKey]:
        """Every series of ``metric`` that has a datum."""
        return [key for key in self._datums if key.name == metric]

    def values(
        self,
        key: SeriesKey,
        statistic: str,
        start: int,
        end: int,
        period: int,
        unit: str | None = None,
    ) -> Series:
        """``statistic`` of each minute of ``[start, end)``; no data, no entry.

        Raises:
            ValueError: another period than a minute, which none of the alarm sets asks for.
        """
        if period != MINUTE:
            raise ValueError(f"{key.name}: a replay knows minutes, not periods of {period} s")
        known = self._known.setdefault(key, {}).setdefault(statistic, {})
        datums = self._datums.get(key, {})
        found: Series = {}
        for minute in range(start, end, MINUTE):
            if minute not in known:
                known[minute] = statistic_of(datums.get(minute, ()), statistic)
            value = known[minute]
            if value is not None:
                found[minute] = value
        return found


@lru_cache(maxsize=1024)
def _seconds(timestamp: str | float) -> int:
    seconds = datetime.fromisoformat(timestamp).timestamp() if isinstance(timestamp, str) else timestamp
    return int(seconds) // MINUTE * MINUTE


def _datum(raw: Mapping[str, Any]) -> Datum:
    if "Values" in raw:
        return Datum.of_values(raw["Values"], raw["Counts"])
    if "StatisticValues" in raw:
        told = raw["StatisticValues"]
        return Datum(told["SampleCount"], told["Sum"], told["Minimum"], told["Maximum"])
    return Datum.of_values([raw["Value"]])
