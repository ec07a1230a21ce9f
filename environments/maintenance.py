"""Windows of planned maintenance, in which a fleet's alarms tell nobody.

Source: "Schedule" in the CloudWatch API reference: ``cron(Minutes Hours Day-of-month Month Day-of-week)`` for windows
that come back, ``at(yyyy-MM-ddThh:mm)`` for one; one minute to fifteen days; a time zone by its IANA name.
"""

import re
from datetime import datetime
from typing import Annotated, Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

LONGEST_MINUTES: Final = 15 * 24 * 60
_RANGES: Final = (("minutes", 0, 59), ("hours", 0, 23), ("days of the month", 1, 31), ("months", 1, 12))
_NAMES: Final = {
    "months": ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
    "days of the week": ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
}
# "The characters *, -, and , are supported in all fields": no steps.
_ITEM: Final = re.compile(r"([A-Z0-9]+)(?:-([A-Z0-9]+))?")


def _five_fields(text: str) -> str:
    fields = text.split()
    if len(fields) != 5:
        raise ValueError("five fields: minutes, hours, day of the month, month, day of the week, as in 0 2 * * SUN")
    for field, (what, low, high) in zip(fields, (*_RANGES, ("days of the week", 0, 7)), strict=True):
        for item in [] if field == "*" else field.split(","):
            if not _is_item(item, low, high, _NAMES.get(what, [])):
                raise ValueError(
                    f"{item} is none of the {what}, {low} to {high}, nor a range of them such as {low}-{high}"
                )
    return text


def _is_item(item: str, low: int, high: int, names: list[str]) -> bool:
    match = _ITEM.fullmatch(item.upper())
    if match is None:
        return False
    given = [end for end in match.groups() if end]
    ends = [names.index(end) + low if end in names else int(end) for end in given if end in names or end.isdecimal()]
    return len(ends) == len(given) and ends == sorted(ends) and all(low <= end <= high for end in ends)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("a time zone by its IANA name, such as UTC or Europe/Berlin") from None
    return name


def _local(moment: datetime) -> datetime:
    if moment.tzinfo is not None or moment.second or moment.microsecond:
        raise ValueError("a whole minute without a zone, such as 2026-12-24T18:00; the zone is time_zone")
    return moment


class Window(BaseModel):
    """When, for how long, and whose alarms. Either ``cron`` or ``at``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
    reason: Annotated[str, Field(min_length=1, max_length=200)]
    cron: Annotated[str, AfterValidator(_five_fields)] | None = None
    """Windows that come back: ``0 2 * * SUN``, every Sunday at 2:00."""
    at: Annotated[datetime, AfterValidator(_local)] | None = None
    """One window: ``2026-12-24T18:00``."""
    minutes: Annotated[int, Field(ge=1, le=LONGEST_MINUTES)]
    time_zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    fleets: tuple[str, ...] = ()
    """Default: all of them."""

    @model_validator(mode="after")
    def _comes_once_or_often(self) -> Self:
        if (self.cron is None) == (self.at is None):
            raise ValueError("a window has either cron or at")
        return self

    @property
    def expression(self) -> str:
        """The schedule in CloudWatch's words."""
        return f"cron({self.cron})" if self.at is None else f"at({self.at:%Y-%m-%dT%H:%M})"
