"""The month so far, and what it comes to: by hand."""

from datetime import UTC, date, datetime

import pytest

from fleet.budgets.spending import days_needed, spending
from tests.support.ledger_lines import line

# Noon of the 20th: 12 hours of today, and 10.5 days are left.
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEFT_HOURS = 10.5 * 24


def test_the_present_rate_is_that_of_the_last_24_hours() -> None:
    lines = [line("2026-11-03", 1000.0), line("2026-11-19", 480.0), line("2026-11-20", 360.0)]

    found = spending(lines, (), NOW, usd=10_000.0)

    # Half of yesterday's 480 and today's 360 in 24 hours are 25 an hour.
    assert found.spent_usd == pytest.approx(1840.0)
    assert found.rate_usd_per_hour == pytest.approx(25.0)
    assert found.forecast_usd == pytest.approx(1840.0 + 25.0 * LEFT_HOURS)
    assert found.forecast_percent == pytest.approx(81.4)
    assert found.prices == (("on-demand", "2026-08-01"),)


def test_an_owner_has_only_what_is_theirs() -> None:
    lines = [line("2026-11-20", 120.0), line("2026-11-20", 24.0, owner="bo"), line("2026-11-19", 0.0, owner="bo")]

    assert spending(lines, (), NOW, usd=100.0, owner="bo").spent_usd == pytest.approx(24.0)
    assert not spending(lines, (), NOW, usd=100.0, owner="bo").is_used_up
    assert spending(lines, (), NOW, usd=144.0).is_used_up


def test_on_the_first_of_a_month_yesterday_tells_the_rate_and_costs_nothing() -> None:
    now = datetime(2026, 12, 1, 0, 35, tzinfo=UTC)
    assert days_needed(now) == (date(2026, 11, 30), date(2026, 12, 1))

    found = spending([line("2026-11-30", 240.0)], {date(2026, 12, 1)}, now, usd=1000.0)

    assert (found.spent_usd, found.rate_usd_per_hour) == (0.0, 10.0)
    assert found.days_missing == ()


def test_what_is_not_known_is_said_and_is_never_zero() -> None:
    missing = {date(2026, 11, 5), date(2026, 11, 19), date(2026, 11, 20)}
    found = spending([line("2026-11-04", 50.0), line("2026-11-04", None)], missing, NOW, usd=1000.0)

    assert (found.rate_usd_per_hour, found.forecast_usd, found.forecast_percent) == (None, None, None)
    assert found.days_missing == (date(2026, 11, 5), date(2026, 11, 19))
    assert found.unpriced_node_hours == pytest.approx(1.0)


def test_a_ledger_that_began_today_has_a_rate_after_an_hour() -> None:
    missing, lines = {date(2026, 11, 19)}, [line("2026-11-20", 60.0)]

    assert spending(lines, missing, NOW, usd=1.0).rate_usd_per_hour == pytest.approx(5.0)
    assert spending(lines, missing, NOW.replace(hour=0, minute=35), usd=1.0).rate_usd_per_hour is None


@pytest.mark.parametrize(("now", "days"), [(NOW, 20), (datetime(2026, 1, 2, tzinfo=UTC), 2)])
def test_the_days_are_those_of_the_month_so_far(now: datetime, days: int) -> None:
    assert len(days_needed(now)) == days
