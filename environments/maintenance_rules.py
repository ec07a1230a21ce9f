"""What must hold of maintenance windows beyond the shape of each: their fleets, their names, that they will come."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from environments.maintenance import Window
from environments.model import Environment
from fleet.diagnostics import Diagnostic, refuse, warn


def diagnose_maintenance(environment: Environment, *, now: datetime | None) -> Iterator[Diagnostic]:
    """Fleets that there are not, names that are there twice, and windows that were over before ``now``."""
    fleets = [fleet.name for fleet in environment.fleets]
    names = Counter(window.name for window in environment.maintenance)
    for index, window in enumerate(environment.maintenance):
        place = f"maintenance[{index}]"
        for fleet in window.fleets:
            if fleet not in fleets:
                fix = f"use some of {', '.join(fleets)}, or leave fleets out for all of them"
                yield refuse("maintenance-unknown-fleet", f"{place}.fleets", fleet, f"there is no fleet {fleet}", fix)
        if names[window.name] > 1:
            twice = f"{names[window.name]} windows are called {window.name}"
            yield refuse("maintenance-name-twice", f"{place}.name", window.name, twice, "give each its own name")
        if now is not None and _is_over(window, now):
            over = "this window is over, and mutes nothing any more"
            yield warn("maintenance-is-over", f"{place}.at", f"{window.at:%Y-%m-%dT%H:%M}", over, "take it out")


def _is_over(window: Window, now: datetime) -> bool:
    if window.at is None:
        return False
    return window.at.replace(tzinfo=ZoneInfo(window.time_zone)) + timedelta(minutes=window.minutes) <= now
