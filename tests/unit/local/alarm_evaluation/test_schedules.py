"""When mute windows open and for how long: the examples of PutAlarmMuteRule in the CloudWatch API reference."""

from datetime import UTC, datetime, timedelta

import pytest

from local.alarm_evaluation.schedules import ScheduleError, parse_duration, parse_schedule
from local.alarm_evaluation.suppression import MuteRule, MuteStatus

HOUR = 3600.0


def _at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _rule(expression: str, duration: str, timezone: str = "UTC", **settings: float) -> MuteRule:
    schedule = parse_schedule(expression, timezone)
    return MuteRule(name="r", schedule=schedule, seconds=parse_duration(duration), alarms=frozenset({"a"}), **settings)


@pytest.mark.parametrize(
    ("expression", "opens", "day_before"),
    [
        ("cron(0 2 * * *)", "2026-11-22T02:00", True),
        ("cron(0 2 * * SUN)", "2026-11-22T02:00", False),
        ("cron(0 1 1 * *)", "2026-12-01T01:00", False),
        ("cron(0 18 * * FRI)", "2026-11-20T18:00", False),
        ("cron(0 23 * * *)", "2026-11-22T23:00", True),
        ("at(2024-05-10T14:00)", "2024-05-10T14:00", False),
        ("at(2024-12-23T00:00)", "2024-12-23T00:00", False),
    ],
)
def test_the_documented_expressions_open_when_the_reference_says(expression: str, opens: str, day_before: bool) -> None:
    rule, time = _rule(expression, "PT1H"), _at(opens)
    states = [rule.status(at) for at in (time - 60, time, time + HOUR - 60, time + HOUR)]

    assert states == [MuteStatus.SCHEDULED, MuteStatus.ACTIVE, MuteStatus.ACTIVE, MuteStatus.SCHEDULED]
    assert (rule.status(time - 86_400) is MuteStatus.ACTIVE) is day_before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT4H", timedelta(hours=4)),
        ("P2DT12H", timedelta(days=2, hours=12)),
        ("PT6H", timedelta(hours=6)),
        ("PT2H", timedelta(hours=2)),
        ("P7D", timedelta(days=7)),
        ("PT1M", timedelta(minutes=1)),
        ("P15D", timedelta(days=15)),
    ],
)
def test_the_documented_durations(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected.total_seconds()


def test_the_weekend_of_the_documentation_is_muted_from_friday_evening_to_monday_morning() -> None:
    rule = _rule("cron(0 18 * * FRI)", "P2DT12H")
    times = ("2026-11-20T17:59", "2026-11-20T18:00", "2026-11-22T12:00", "2026-11-23T05:59", "2026-11-23T06:00")

    assert [rule.mutes("a", _at(time)) for time in times] == [False, True, True, True, False]


def test_only_the_targets_are_muted() -> None:
    assert not _rule("cron(* * * * *)", "PT1M").mutes("b", _at("2026-11-22T12:00"))


def test_a_rule_waits_for_its_start_and_ends_with_its_expiry() -> None:
    start, expiry = _at("2026-11-22T00:00"), _at("2026-11-24T00:00")
    rule = _rule("cron(0 12 * * *)", "PT1H", starts=start, expires=expiry)
    days = ("2026-11-21T12:30", "2026-11-22T12:30", "2026-11-23T12:30", "2026-11-24T12:30")

    assert [rule.status(_at(day)).value for day in days] == ["SCHEDULED", "ACTIVE", "ACTIVE", "EXPIRED"]


def test_a_day_matches_by_either_of_two_restricted_day_fields_as_in_standard_cron() -> None:
    rule = _rule("cron(0 0 1 * MON-TUE)", "PT1H")
    days = {day: rule.status(_at(f"2026-12-{day:02}T00:30")) is MuteStatus.ACTIVE for day in range(1, 9)}

    assert [day for day, active in days.items() if active] == [1, 7, 8]


def test_a_window_keeps_its_local_hour_through_a_change_of_the_clocks() -> None:
    rule = _rule("cron(30 9 * * *)", "PT1H", "Europe/London")

    assert [rule.mutes("a", _at(time)) for time in ("2026-07-01T08:45", "2026-12-01T09:45")] == [True, True]


def test_an_hour_that_a_clock_change_skips_opens_nothing() -> None:
    # The clocks of London go from 01:00 to 02:00 on 29 March 2026.
    rule = _rule("cron(30 1 * * *)", "PT1H", "Europe/London")

    assert not rule.mutes("a", _at("2026-03-29T01:45"))
    assert rule.mutes("a", _at("2026-03-30T01:00"))


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("rate(1 hour)", "neither cron"),
        ("cron(0 2 * *)", "4 fields"),
        ("cron(60 2 * * *)", "minutes '60'"),
        ("cron(0 5-2 * * *)", "hours '5-2'"),
        ("cron(0 0 0 * *)", "day of month"),
        ("cron(0 0 * FEBRUARY *)", "month 'FEBRUARY'"),
        ("cron(*/5 0 * * *)", "minutes"),
        ("at(2026-13-01T00:00)", "yyyy-MM-dd"),
    ],
)
def test_a_schedule_that_cloudwatch_refuses_is_named(expression: str, named: str) -> None:
    with pytest.raises(ScheduleError, match=named):
        parse_schedule(expression)


@pytest.mark.parametrize("text", ["PT0M", "PT30S", "P16D", "1H", "P", "PT", "P1W", ""])
def test_a_duration_out_of_its_limits_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="PT1M to P15D"):
        parse_duration(text)


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ScheduleError, match="Europe/Lndon"):
        parse_schedule("cron(0 0 * * *)", "Europe/Lndon")
