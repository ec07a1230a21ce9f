"""What a month may cost as its owner wrote it down, what it has cost by the ledger, and what it comes to.

The present rate is that of the last 24 hours: all of today so far, and of yesterday the part that 24 hours reach back
into. AWS Budgets updates its own figures up to three times a day (Cost Management user guide, "Managing your costs
with AWS Budgets"), and its forecast wants weeks of history; this one is of the hour, and of nodes only.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from fleet.fleet_spec import MarketKind, Purpose
from fleet.ledger import Line
from fleet.ledger.amounts import PER_USD, UNITS
from fleet.ledger.totals import total
from fleet.string_enum import StringEnum

FORECAST_PERCENT = 100.0


class StopMode(StringEnum):
    """What happens when the month's budget is used up: nothing, a question to the approvers, or the stop itself."""

    NEVER = "never"
    ASK = "ask"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Budgets:
    """``usd`` of a calendar month (UTC), and of each owner in it. ``forecast_percent`` of it forecast is a ticket."""

    usd: float
    owners: Mapping[str, float]
    forecast_percent: float = FORECAST_PERCENT
    stop: StopMode = StopMode.NEVER


def may_be_stopped(purpose: Purpose, market: MarketKind) -> bool:
    """Whether a stop saves anything and harms nobody outside.

    What was paid in advance costs the same unused, and somebody waits behind an endpoint.
    """
    return purpose is Purpose.TRAINING and market in (MarketKind.ON_DEMAND, MarketKind.SPOT)


_DAY_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Spending:
    """Dollars of nodes and reservations since the first of the month.

    ``forecast_usd`` is None while the rate is not known. Hours without a price, and days without a ledger, are in no
    dollar: where there are any, the figures are the least that it can be. ``prices`` are (kind, as-of date).
    """

    owner: str | None
    budget_usd: float
    spent_usd: float
    rate_usd_per_hour: float | None
    forecast_usd: float | None
    unpriced_node_hours: float
    days_missing: tuple[date, ...]
    prices: tuple[tuple[str, str], ...]

    @property
    def forecast_percent(self) -> float | None:
        """The forecast in percent of the budget."""
        return None if self.forecast_usd is None else 100.0 * self.forecast_usd / self.budget_usd

    @property
    def is_used_up(self) -> bool:
        """Whether nothing of the budget is left."""
        return self.spent_usd >= self.budget_usd


def days_needed(now: datetime) -> tuple[date, ...]:
    """The days whose lines ``spending`` wants: the month so far, and the day before today."""
    today = now.astimezone(timezone.utc).date()
    first = min(today.replace(day=1), today - timedelta(days=1))
    return tuple(first + timedelta(days=n) for n in range((today - first).days + 1))


def spending(
    lines: Iterable[Line], missing: Collection[date], now: datetime, *, usd: float, owner: str | None = None
) -> Spending:
    """What ``owner``, or everybody, has spent of ``usd``; ``missing`` are days of ``days_needed`` without a ledger."""
    now = now.astimezone(timezone.utc)
    today, first = now.date(), now.date().replace(day=1)
    theirs = [line for line in lines if owner is None or line.owner == owner]
    whole = total(owner, [line for line in theirs if line.day >= first])
    rate = _rate(theirs, missing, now)
    spent = whole.amount / PER_USD
    left = (_next_month(first) - now).total_seconds() / 3600
    return Spending(
        owner=owner,
        budget_usd=usd,
        spent_usd=spent,
        rate_usd_per_hour=rate,
        forecast_usd=None if rate is None else spent + rate * left,
        unpriced_node_hours=whole.unpriced_units / UNITS / 60,
        days_missing=tuple(sorted(day for day in missing if first <= day < today)),
        prices=whole.prices,
    )


def _rate(lines: Iterable[Line], missing: Collection[date], now: datetime) -> float | None:
    today, yesterday = now.date(), now.date() - timedelta(days=1)
    hours = now.hour + now.minute / 60
    if today in missing and yesterday in missing:
        return None
    of_day = {today: 0.0, yesterday: 0.0}
    for line in lines:
        if line.day in of_day and line.amount is not None:
            of_day[line.day] += line.amount / PER_USD
    if yesterday in missing:
        # The ledger began today. Its first hour is hardly one: what an hour costs is not known sooner.
        return of_day[today] / hours if hours >= 1 else None
    if today in missing:
        # Just after midnight today's first hour is not rolled up yet.
        return of_day[yesterday] / _DAY_HOURS
    return (of_day[today] + of_day[yesterday] * (1 - hours / _DAY_HOURS)) / _DAY_HOURS


def _next_month(first: date) -> datetime:
    following = (first + timedelta(days=31)).replace(day=1)
    return datetime(following.year, following.month, 1, tzinfo=timezone.utc)
