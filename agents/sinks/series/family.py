"""A family: one series name, its help text and its points. The same families are scraped and pushed."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Final

# More cores, devices or jobs than any node has: a damaged report cannot make the answer grow without end.
_MOST: Final = 1024


class Shape(StrEnum):
    """What the values of a family are.

    GAUGE is a value now, COUNT a count over the minute, STATES one point for each possible state (1 where it is the
    current one, else 0), INFO a constant 1 whose labels say something.
    """

    GAUGE = "gauge"
    COUNT = "count"
    STATES = "states"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Point:
    """One value and the values of its family's labels, in their order."""

    labels: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class Family:
    """``name`` ends in the base unit and never in ``_total``; ``own`` families are about the agent itself."""

    name: str
    shape: Shape
    help: str
    labels: tuple[str, ...]
    points: tuple[Point, ...]
    own: bool = False


def point(value: object, *labels: str, scale: float = 1.0) -> Point | None:
    """A point of a number; None for whatever is not a finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return Point(labels, value * scale)


def distinct(points: Iterable[Point | None], shape: Shape) -> tuple[Point, ...]:
    """Each once: two points with the same labels would void the scrape. Counts are added, else the first is taken."""
    values: dict[tuple[str, ...], float] = {}
    for each in points:
        if each is not None:
            known = values.setdefault(each.labels, 0.0 if shape is Shape.COUNT else each.value)
            values[each.labels] = known + each.value if shape is Shape.COUNT else known
    return tuple(Point(labels, value) for labels, value in values.items())[:_MOST]
