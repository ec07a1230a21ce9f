"""Every metric's datums as they were published: one series per exact set of dimensions, one slot per minute.

SEARCH in metric math: the series that match ``'{Namespace,Dimension} MetricName="X" Dimension="v"'``.

Source: "CloudWatch search expression syntax". Served: one schema with exact dimension names, and terms of the form
``Property="value"`` or bare words, all of which must match; OR and NOT are refused.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.metric_math.syntax import MathError
from local.alarm_evaluation.metric_math.values import Labelled
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


_PROPERTY = re.compile(r"\$\{PROP\('Dim\.([^']+)'\)\}")
_SCHEMA = re.compile(r"^\s*\{([^}]*)\}\s*(.*)$", re.DOTALL)
_TERM = re.compile(r'\s*(?:([\w/]+)\s*=\s*)?(?:"([^"]*)"|([^\s"=()]+))')


class FoundLabel(str):
    """The label of a series that was found; it knows the series' dimensions, which a dynamic label may ask for."""

    __slots__ = ("dimensions",)
    dimensions: dict[str, str]

    @classmethod
    def of(cls, key: SeriesKey, dimensions: list[str]) -> "FoundLabel":
        """The values of the dimensions in the schema's order, then the metric's name."""
        values = dict(key.dimensions)
        label = cls(" ".join([*(values[name] for name in dimensions), key.name]))
        label.dimensions = values
        return label


def dynamic(asked: str, own: str) -> str:
    """What a query's label makes of a series' own: "Use dynamic labels" in the CloudWatch User Guide."""
    if isinstance(own, FoundLabel) and _PROPERTY.search(asked):
        return _PROPERTY.sub(lambda match: own.dimensions.get(match[1], ""), asked)
    return f"{asked} {own}".strip()


def search(store: MetricStore, arguments: tuple[str, str], start: int, end: int, period: int) -> list[Labelled]:
    """The matching series that have data in ``[start, end)``, each with a label, in the order of the labels."""
    expression, statistic = arguments
    match = _SCHEMA.match(expression)
    if match is None:
        raise MathError(f"SEARCH {expression!r}: starts with {{Namespace,Dimension,…}}")
    namespace, *dimensions = [part.strip().strip('"') for part in match[1].split(",")]
    terms = _terms(match[2])
    found = []
    for key in store.all_series():
        names = {name for name, _ in key.dimensions}
        if key.namespace == namespace and names == set(dimensions) and all(_matches(key, *term) for term in terms):
            series = store.values(key, statistic, start, end, period)
            if series:
                found.append((FoundLabel.of(key, dimensions), series))
    return sorted(found, key=lambda each: each[0])


def _terms(text: str) -> list[tuple[str | None, str]]:
    terms: list[tuple[str | None, str]] = []
    position = 0
    while text[position:].strip():
        match = _TERM.match(text, position)
        if match is None or match[3] in ("OR", "NOT"):
            raise MathError(f"SEARCH: {text[position:].strip()[:30]!r} is not supported here")
        if match[3] != "AND":
            terms.append((match[1], match[2] if match[2] is not None else match[3]))
        position = match.end()
    return terms


def _matches(key: SeriesKey, name: str | None, value: str) -> bool:
    if name == "MetricName":
        return key.name == value
    if name is None:
        return value.lower() in " ".join([key.name, *(each for _, each in key.dimensions)]).lower()
    return (name, value) in key.dimensions
