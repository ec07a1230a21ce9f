"""The newest minute for Prometheus, in a registry of its own; counts of a minute are counters over the agent's life.

Only what was measured is there. A minute that is no longer fresh disappears, so that a graph shows a gap and not the
last value for ever; what remains are the agent's own series, whose report age goes on rising.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    StateSetMetricFamily,
)
from prometheus_client.registry import Collector, CollectorRegistry

from agents.minute.batch import Batch
from agents.sinks.series import names, node
from agents.sinks.series.family import Family, Point, Shape, point
from agents.sinks.series.levels import minutes_of_counts
from fleet import metrics

# Seconds after which a minute is history: three that nothing followed.
_FRESH: Final = 3.0 * metrics.PERIOD_SECONDS
_REPORT_AGE: Final = f"{names.PREFIX}_agent_report_age_seconds"
# Jobs come and go for as long as the agent lives; the counters longest without news are forgotten.
_MOST: Final = 2048
_JOB: Final = "job"
_Key = tuple[str, tuple[str, ...]]


class Totals:
    """Remembers what every counter has come to. A counter that starts anew is a reset, which readers expect."""

    def __init__(self) -> None:
        self._values: dict[_Key, float] = {}
        self._families: dict[str, Family] = {}

    def cumulative(self, families: Iterable[Family]) -> tuple[Family, ...]:
        """The minute's families with totals in place of counts.

        Counters that had nothing new in this minute stay; those of a job end with it.
        """
        others = []
        present: set[_Key] = set()
        for family in families:
            if family.shape is not Shape.COUNT:
                others.append(family)
                continue
            self._families[family.name] = replace(family, points=())
            present.update(self._added(family))
        return (*others, *self._counters(present))

    def _added(self, family: Family) -> Iterator[_Key]:
        for each in family.points:
            key = (family.name, each.labels)
            # Out and in again: the order of the dictionary is that of the last news.
            self._values[key] = self._values.pop(key, 0.0) + each.value
            yield key
        while len(self._values) > _MOST:
            del self._values[next(iter(self._values))]

    def _counters(self, present: set[_Key]) -> Iterator[Family]:
        points: dict[str, list[Point]] = {}
        for (name, labels), total in self._values.items():
            if _JOB not in self._families[name].labels or (name, labels) in present:
                points.setdefault(name, []).append(Point(labels, total))
        for name, kept in sorted(points.items()):
            yield replace(self._families[name], points=tuple(sorted(kept, key=lambda each: each.labels)))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A minute and when it was handed over, in seconds of a clock that never goes back."""

    at: float
    common: Mapping[str, str]
    families: tuple[Family, ...]


class PrometheusExporter(Collector):
    """An exporter of batches and a collector of prometheus-client; the two sides live in different threads."""

    name = "prometheus"

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        self._ticks = ticks
        self._totals = Totals()
        self._shown: _Shown | None = None

    def show(self, batch: Batch) -> None:
        """Take the place of the minute before."""
        common = {name: str(batch.log_event.get(name) or "") for name in ("environment", "fleet", "node")}
        # A family without a point would be a name and a help text of nothing.
        collectors = (family for family in collector_families(batch.log_event) if family.points)
        shown = node.families(batch)
        families = (*shown, *minutes_of_counts(shown), *collectors)
        self._shown = _Shown(self._ticks(), common, self._totals.cumulative(families))

    def collect(self) -> Iterator[Metric]:
        """The newest minute, for one scrape."""
        shown = self._shown
        if shown is None:
            return
        waited = max(0.0, self._ticks() - shown.at)
        for family in shown.families:
            if family.own or waited <= _FRESH:
                yield _metric(_aged(family, waited), shown.common)


def collector_families(event: Mapping[str, Any]) -> tuple[Family, ...]:
    """Success and duration by collector, as node_exporter has them; not pushed over OTLP, which bills each series.

    One that did not answer in time has no duration, and one that is switched off has neither.
    """
    costs: Mapping[str, Mapping[str, Any]] = event.get("collectors") or {}
    succeeded = [point(float(cost["ok"]), name) for name, cost in costs.items() if "ok" in cost]
    took = [point(cost.get("ms"), name, scale=0.001) for name, cost in costs.items()]
    return (
        _by_collector("success", "1 where the collector answered in time and without an error", succeeded),
        _by_collector("duration_seconds", "what the collector took in the last minute", took),
    )


def _by_collector(name: str, text: str, points: Iterable[Point | None]) -> Family:
    made = tuple(each for each in points if each is not None)
    return Family(f"{names.PREFIX}_agent_collector_{name}", Shape.GAUGE, text, ("collector",), made, own=True)


def _aged(family: Family, waited: float) -> Family:
    if family.name != _REPORT_AGE:
        return family
    points = tuple(Point(each.labels, each.value + waited) for each in family.points)
    return Family(family.name, family.shape, family.help, family.labels, points, family.own)


def _metric(family: Family, common: Mapping[str, str]) -> Metric:
    return _MAKERS[family.shape](family, common)


def _gauge(family: Family, common: Mapping[str, str]) -> Metric:
    made = GaugeMetricFamily(family.name, family.help, labels=(*common, *family.labels))
    for each in family.points:
        made.add_metric([*common.values(), *each.labels], each.value)
    return made


def _counter(family: Family, common: Mapping[str, str]) -> Metric:
    made = CounterMetricFamily(family.name, family.help, labels=(*common, *family.labels))
    for each in family.points:
        made.add_metric([*common.values(), *each.labels], each.value)
    return made


def _states(family: Family, common: Mapping[str, str]) -> Metric:
    # The state's label has the name of the family: OpenMetrics wants it so.
    made = StateSetMetricFamily(family.name, family.help, labels=tuple(common))
    made.add_metric(list(common.values()), {each.labels[0]: each.value == 1 for each in family.points})
    return made


def _info(family: Family, common: Mapping[str, str]) -> Metric:
    made = InfoMetricFamily(family.name, family.help)
    for each in family.points:
        labels = dict(zip(family.labels, each.labels, strict=True))
        made.add_metric([], {**common, **{name: value for name, value in labels.items() if value}})
    return made


_MAKERS: Final[Mapping[Shape, Callable[[Family, Mapping[str, str]], Metric]]] = {
    Shape.GAUGE: _gauge,
    Shape.COUNT: _counter,
    Shape.STATES: _states,
    Shape.INFO: _info,
}
