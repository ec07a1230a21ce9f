"""When a mute window opens: ``cron(0 2 * * SUN)`` and ``at(2026-12-24T00:00)``, in a time zone.

Source: type Schedule of PutAlarmMuteRule in the CloudWatch API reference: five fields, ``*``, ``-`` and ``,``, English
names of months and days. It calls the syntax standard cron, in which a day matches by either of two restricted day
fields.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_FIELDS: Final = (
    ("minutes", 0, 59, ()),
    ("hours", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_DURATION: Final = re.compile(r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?)?")
MAX_DURATION: Final = timedelta(days=15)


class ScheduleError(ValueError):
    """A schedule that CloudWatch would refuse; the message shows the part that is wrong."""


class Schedule(Protocol):
    """When windows open."""

    def last_opening(self, at: float, within: float) -> float | None:
        """The newest opening in the ``within`` seconds up to and including ``at``, all in unix seconds."""


@dataclass(frozen=True, slots=True)
class Once:
    """Opens at one time, in unix seconds."""

    opens: float

    def last_opening(self, at: float, within: float) -> float | None:
        """The one opening, if it was in the last ``within`` seconds."""
        return self.opens if at - within < self.opens <= at else None


@dataclass(frozen=True, slots=True)
class Recurring:
    """Opens at every minute that matches five fields."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    zone: tzinfo = UTC

    def last_opening(self, at: float, within: float) -> float | None:
        """The newest opening in the last ``within`` seconds; a time that a clock change skips opens nothing."""
        day = datetime.fromtimestamp(at, self.zone).date()
        while datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp() > at - within - 86_400:
            found = [time for time in self._openings(day) if at - within < time <= at]
            if found:
                return max(found)
            day -= timedelta(days=1)
        return None

    def _openings(self, day: date) -> list[float]:
        if day.month not in self.months or not self._is_day(day):
            return []
        local = [
            datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone)
            for hour in self.hours
            for minute in self.minutes
        ]
        times = [(time, time.timestamp()) for time in local]
        return [seconds for time, seconds in times if datetime.fromtimestamp(seconds, self.zone).hour == time.hour]

    def _is_day(self, day: date) -> bool:
        by_month = self.days is None or day.day in self.days
        by_week = self.weekdays is None or day.isoweekday() % 7 in self.weekdays
        return by_month or by_week if self.days is not None and self.weekdays is not None else by_month and by_week


def parse_schedule(expression: str, timezone: str = "UTC") -> Schedule:
    """``cron(…)`` or ``at(…)``; raises ``ScheduleError``."""
    zone = _zone(timezone)
    match = re.fullmatch(r"(cron|at)\((.*)\)", expression.strip())
    if match is None:
        raise ScheduleError(
            f"schedule {expression!r}: neither cron(Minutes Hours Day Month Weekday) nor at(yyyy-MM-ddThh:mm)"
        )
    if match[1] == "at":
        try:
            return Once(datetime.strptime(match[2], "%Y-%m-%dT%H:%M").replace(tzinfo=zone).timestamp())
        except ValueError as error:
            raise ScheduleError(f"schedule {expression!r}: a time reads yyyy-MM-ddThh:mm") from error
    return _cron(expression, match[2].split(), zone)


def _cron(expression: str, parts: list[str], zone: tzinfo) -> Recurring:
    if len(parts) != len(_FIELDS):
        raise ScheduleError(f"schedule {expression!r}: {len(parts)} fields, not 5")
    every: list[frozenset[int] | None] = [
        None if part == "*" else _field(expression, part, *field) for part, field in zip(parts, _FIELDS, strict=True)
    ]
    minutes, hours, days, months, weekdays = every
    return Recurring(
        minutes=frozenset(range(60)) if minutes is None else minutes,
        hours=frozenset(range(24)) if hours is None else hours,
        days=days,
        months=frozenset(range(1, 13)) if months is None else months,
        weekdays=None if weekdays is None else frozenset(day % 7 for day in weekdays),
        zone=zone,
    )


def _field(expression: str, text: str, name: str, low: int, high: int, names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        bounds = [_number(each, low, names) for each in (first, last or first)]
        if not all(bound is not None and low <= bound <= high for bound in bounds) or bounds[0] > bounds[1]:  # type: ignore[operator]  # all() has looked
            raise ScheduleError(f"schedule {expression!r}: {name} {part!r} is not within {low}-{high}")
        found.update(range(bounds[0] or 0, (bounds[1] or 0) + 1))
    return frozenset(found)


def _number(text: str, low: int, names: tuple[str, ...]) -> int | None:
    if text.upper() in names:
        return names.index(text.upper()) + low
    return int(text) if text.isdigit() else None


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ScheduleError(f"time zone {name!r} is not known; one reads like Europe/London") from error


def parse_duration(text: str) -> float:
    """Seconds of an ISO 8601 duration of a mute window, ``PT1M`` to ``P15D``; raises ``ScheduleError``."""
    match = _DURATION.fullmatch(text)
    days, hours, minutes = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    duration = timedelta(days=days, hours=hours, minutes=minutes)
    if not timedelta(minutes=1) <= duration <= MAX_DURATION:
        raise ScheduleError(f"duration {text!r}: not within PT1M to P15D")
    return duration.total_seconds()
