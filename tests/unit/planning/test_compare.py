"""Options are worked out from measured throughput and dated prices; what their numbers do not say is left open."""

import pytest

from planning.compare import Option, Phase, Rate, Target, compare
from planning.money import PlanError

HAND = Rate(12.0, "by hand (a document)")
TODAY = Rate(6.0, "on-demand, us-east-2, 2026-10-03 (AWS API)")
# 2 instances, 1,000 tokens a second: 24 $/h for 3.6 M tokens.
FIRST = Option("first", (Phase(2, (HAND, TODAY), throughput=1000),))
# 1 instance, 250 tokens a second: 12 $/h for 0.9 M tokens.
SECOND = Option("second", (Phase(1, (HAND,), throughput=250),))


def test_a_million_units_cost_the_hour_over_what_it_delivers() -> None:
    first, second = compare([FIRST, SECOND], Target()).given

    # 24 / 3.6 and 12 / 0.9; the first is cheaper by half.
    assert first.usd_per_million_units == pytest.approx(6.6667, abs=1e-4)
    assert second.usd_per_million_units == pytest.approx(13.3333, abs=1e-4)
    assert first.saving_percent == pytest.approx(50.0)
    assert second.saving_percent == 0.0


def test_prices_given_and_prices_of_the_catalogue_stand_side_by_side() -> None:
    answer = compare([FIRST, SECOND], Target())

    assert answer.given[0].prices == ("by hand (a document)",)
    assert answer.today[0].prices == ("on-demand, us-east-2, 2026-10-03 (AWS API)",)
    assert (answer.given[0].usd_per_hour, answer.today[0].usd_per_hour) == (24.0, 12.0)
    # The second has no price in the catalogue, and keeps the one given.
    assert answer.today[1].prices == ("by hand (a document)",)


def test_options_at_one_set_of_prices_are_told_once() -> None:
    other = Option("other", (Phase(1, (TODAY,), throughput=10),))

    assert compare([SECOND, other], Target()).today == ()


def test_a_run_of_so_many_units_takes_so_long() -> None:
    first = compare([FIRST, SECOND], Target(units=7.2e6)).given[0]

    # 7.2 M tokens at 3.6 M an hour: 2 h at 24 $.
    assert (first.run_hours, first.run_usd) == (2.0, 48.0)


def test_a_fleet_for_a_rate_is_made_of_whole_groups() -> None:
    first, second = compare([FIRST, SECOND], Target(units_per_second=1001)).given

    # Two groups of two; five of one (1001 / 250 = 4.004).
    assert (first.fleet_instances, first.fleet_usd_per_hour) == (4, 48.0)
    assert (second.fleet_instances, second.fleet_usd_per_hour) == (5, 60.0)


def test_a_rate_that_is_met_exactly_takes_no_group_more() -> None:
    slow = Option("slow", (Phase(1, (HAND,), throughput=0.3),))

    # 2.1 / 0.3 is 7.000000000000001 in binary.
    assert compare([slow, SECOND], Target(units_per_second=2.1)).given[0].fleet_instances == 7


def test_phases_of_an_option_add_up() -> None:
    phased = Option("phased", (Phase(usd=9500), Phase(1, (HAND,), hours=10), Phase(2, (HAND,), hours=5)))

    outcome = compare([phased, FIRST], Target()).given[0]

    # 9500 + 1 x 10 x 12 + 2 x 5 x 12.
    assert (outcome.run_usd, outcome.run_hours) == (9740.0, 15.0)
    assert (outcome.usd_per_hour, outcome.usd_per_million_units) == (None, None)


def test_a_month_has_the_hours_that_it_is_given() -> None:
    of_30_days = compare([FIRST, SECOND], Target(hours_per_month=720)).given[0]

    assert of_30_days.usd_per_month == 24 * 720
    assert compare([FIRST, SECOND], Target()).given[0].usd_per_month == 24 * 730


def test_what_the_numbers_do_not_say_is_left_open() -> None:
    hours_only = Option("hours", (Phase(1, (HAND,)),))

    outcome = compare([hours_only, FIRST], Target(units=1e6, units_per_second=10)).given[0]

    assert (outcome.run_usd, outcome.run_hours, outcome.fleet_instances, outcome.usd_per_million_units) == (None,) * 4
    assert outcome.usd_per_hour == 12.0


def test_savings_are_on_a_run_where_throughput_is_not_known() -> None:
    long, short = (Option(name, (Phase(1, (HAND,), hours=hours),)) for name, hours in (("long", 100), ("short", 80)))

    assert [each.saving_percent for each in compare([long, short], Target()).given] == [0.0, pytest.approx(20.0)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: compare([FIRST], Target()), "1 option to compare; give --option at least twice, with different names"),
        (lambda: compare([FIRST, SECOND], Target(units=0)), "units is 0; it must be above 0"),
        (lambda: compare([FIRST, SECOND], Target(units_per_second=-1)), "target rate is -1; it must be above 0"),
        (lambda: compare([FIRST, SECOND], Target(hours_per_month=0)), "hours per month is 0; it must be above 0"),
        (lambda: Phase(0, (HAND,)), "instances is 0; it must be above 0"),
        (lambda: Phase(1, (Rate(0.0, "x"),)), "price is 0; it must be above 0"),
        (lambda: Phase(1, (HAND,), throughput=float("nan")), "throughput is nan; it must be above 0"),
        (lambda: Phase(1, (HAND,), hours=float("inf")), "hours is inf; it must be above 0"),
        (lambda: Phase(1, ()), "no price is known; give price=, and source= for where it was read"),
        (lambda: Phase(1, (HAND,), usd=5), "usd is a sum of its own; it goes with neither instances, throughput nor"),
    ],
)
def test_numbers_out_of_range_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(PlanError) as error:
        make()

    assert str(error.value).startswith(message)
