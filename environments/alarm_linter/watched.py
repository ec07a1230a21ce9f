"""Alarms and dashboards as the linter sees them, whatever they were written in."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """One metric with its dimensions. A value that only CloudFormation knows stands there as its reference."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One metric alarm. ``notifies``: somebody is told, so somebody needs a runbook."""

    name: str
    notifies: bool
    series: tuple[Series, ...]
    datapoints: tuple[int, int]
    """So many breaching ones (M) of so many (N)."""
    expressions: tuple[str, ...] = ()
    minutes: int = 1
    """Period times evaluation periods."""

    @property
    def key(self) -> str:
        """What its runbook is called."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """One composite alarm. ``children`` are the names in its rule, each as often as it is there."""

    name: str
    notifies: bool
    rule: str
    children: tuple[str, ...]
    suppressor: str | None = None

    @property
    def key(self) -> str:
        """What its runbook is called."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Widget:
    """What one widget draws."""

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One dashboard."""

    name: str
    widgets: tuple[Widget, ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """Everything that watches one environment."""

    alarms: tuple[Alarm, ...] = ()
    composites: tuple[Composite, ...] = ()
    dashboards: tuple[Dashboard, ...] = ()

    @property
    def every(self) -> tuple[Alarm | Composite, ...]:
        """The alarms of both kinds."""
        return (*self.alarms, *self.composites)
