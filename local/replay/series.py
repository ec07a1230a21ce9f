"""The series that a node's agent pushes by OTLP, as far as a set of rules reads them.

They are the agent's own families (``agents.sinks.series``), called as ``agents.sinks.otlp_requests`` calls them, at the
level that rules need; a test decodes its requests and finds the same. Each has the time at which its minute ended.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from agents.minute.batch import Batch, Datum, NodeMinute
from agents.minute.log_event import log_event
from agents.sinks.series.family import Family
from agents.sinks.series.levels import Level, pushed, pushed_name
from agents.sinks.series.names import PREFIX, SeriesName, of_job, of_node
from agents.sinks.series.node import families
from fleet.metrics import CATALOGUE, PERIOD_SECONDS
from local.alarm_evaluation.promql import Labels, Selector, labels_of

_COMMON: Final = ("environment", "fleet", "node")
# What makes most of a node's series, and is left out of the work where no rule reads it.
_READ_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "cores": (f"{PREFIX}_core_",),
    "device_used_bytes": (f"{PREFIX}_device_",),
    "devices": (f"{PREFIX}_device_",),
    "sysfs_devices": (f"{PREFIX}_device_",),
}


class SeriesPoint(NamedTuple):
    """One sample, at unix second ``at``."""

    metric: str
    labels: Labels
    at: int
    value: float


_Measured = tuple[str, tuple[str, ...], tuple[str, ...], float]


class Pushed:
    """Says what a node pushes of its minutes that one of ``selectors`` takes."""

    def __init__(self, selectors: Iterable[Selector]) -> None:
        self._selectors: dict[str, list[Selector]] = {}
        for selector in selectors:
            self._selectors.setdefault(selector.metric, []).append(selector)
        self._left_out = frozenset(
            part
            for part, begins in _READ_BY.items()
            if not any(metric.startswith(begins) for metric in self._selectors)
        )
        self._datums = frozenset(
            spec.name for spec in CATALOGUE.values() if self._may_read(of_node(spec), of_job(spec))
        )
        self._taken: dict[tuple[str, Labels], bool] = {}
        self._minute = -1
        self._of_minute: dict[int, tuple[tuple[Datum, ...], Sequence[_Measured]]] = {}

    def of(self, entry: NodeMinute, datums: tuple[Datum, ...]) -> list[SeriesPoint]:
        """The samples of ``entry``, whose datums are known already."""
        config = entry.node.config
        common = (config.environment, config.fleet, entry.node.name)
        at = entry.minute + PERIOD_SECONDS
        found: list[SeriesPoint] = []
        for metric, names, values, value in self._measured(entry, datums):
            labels = _labels(metric, names, common, values)
            if self._takes(metric, labels):
                found.append(SeriesPoint(metric, labels, at, value))
        return found

    def _measured(self, entry: NodeMinute, datums: tuple[Datum, ...]) -> Sequence[_Measured]:
        if entry.minute != self._minute:
            self._minute, self._of_minute = entry.minute, {}
        # Nodes that go through the same share their datums, and say the same but for their names.
        known = self._of_minute.get(id(datums))
        if known is None:
            known = self._of_minute[id(datums)] = (datums, tuple(self._worked_out(entry, datums)))
        return known[1]

    def _worked_out(self, entry: NodeMinute, datums: tuple[Datum, ...]) -> Iterator[_Measured]:
        event = {name: value for name, value in log_event(entry).items() if name not in self._left_out}
        read = tuple(datum for datum in datums if datum["MetricName"] in self._datums)
        for family in pushed(families(Batch(entry.minute, entry.seq, "", read, event)), Level.RULES):
            metric = pushed_name(family)
            if metric in self._selectors:
                yield from ((metric, family.labels, point.labels, point.value) for point in family.points)

    def _may_read(self, *names: SeriesName | None) -> bool:
        # What is no series of its own may be part of another.
        return any(name is None or _called(name) in self._selectors for name in names)

    def _takes(self, metric: str, labels: Labels) -> bool:
        known = self._taken.get((metric, labels))
        if known is None:
            values = dict(labels)
            known = self._taken[metric, labels] = any(each.takes(values) for each in self._selectors[metric])
        return known


def _called(of: SeriesName) -> str:
    return pushed_name(Family(of.name, of.shape, of.help, (), ()))


@lru_cache(maxsize=65_536)
def _labels(metric: str, names: Sequence[str], common: Sequence[str], values: Sequence[str]) -> Labels:
    own = dict(zip(names, values, strict=True))
    return labels_of({"__name__": metric, **dict(zip(_COMMON, common, strict=True)), **own})
