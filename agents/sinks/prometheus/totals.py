"""Counts of a minute as counters over the agent's life, as Prometheus wants them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from agents.sinks.series.family import Family, Point, Shape

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
