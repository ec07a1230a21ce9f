"""The metrics of a replay in memory: one list of datums for each series and minute, statistics worked out once."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from local.alarm_evaluation import Series, SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.alarm_evaluation.statistics import statistic as statistic_of

MINUTE: Final = 60


class Store:
    """Takes datums as PutMetricData does and answers with the statistics of minutes: a ``SeriesSource``."""

    def __init__(self) -> None:
        self._datums: dict[SeriesKey, dict[int, list[Datum]]] = {}
        self._known: dict[tuple[SeriesKey, str], dict[int, float | None]] = {}

    def put(self, namespace: str, datums: Iterable[Mapping[str, Any]]) -> None:
        """Store ``datums`` of PutMetricData's shape; ``Timestamp`` is unix seconds or ISO 8601."""
        for datum in datums:
            minute = _seconds(datum["Timestamp"])
            key = SeriesKey.of(namespace, datum["MetricName"], datum["Dimensions"])
            self._datums.setdefault(key, {}).setdefault(minute, []).append(_datum(datum))

    def forget(self) -> None:
        """Work everything out anew: data of minutes that were asked for before has come."""
        self._known.clear()

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
        known = self._known.setdefault((key, statistic), {})
        datums = self._datums.get(key, {})
        found: Series = {}
        for minute in range(start, end, MINUTE):
            if minute not in known:
                known[minute] = statistic_of(datums.get(minute, ()), statistic)
            value = known[minute]
            if value is not None:
                found[minute] = value
        return found


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
