"""A migration is paid for when what it saves equals what it cost."""

import pytest

from planning.breakeven import Migration, Point, breakeven
from planning.money import PlanError


def test_runs_and_months_until_the_migration_is_paid_for() -> None:
    # 13,646 saved a run: 25,000 / 13,646 = 1.832 runs; at two a month 0.916 months.
    answer = breakeven(Migration(25_000, 35_555, 21_909, 2))

    assert answer.saving_usd_per_run == 13_646
    assert answer.saving_percent == pytest.approx(38.38, abs=0.005)
    assert answer.saving_usd_per_year == 24 * 13_646
    assert answer.answer.runs == 2
    assert answer.answer.exact_runs == pytest.approx(1.832, abs=0.0005)
    assert answer.answer.months == pytest.approx(0.916, abs=0.0005)


def test_what_a_guide_says_of_two_weeks_of_work_is_met() -> None:
    """ "$20,000-30,000 ... ~$13,646 savings per run, break-even is reached in 2-3 training runs"."""
    runs = [breakeven(Migration(usd, 35_555, 21_909, 1)).answer.runs for usd in (20_000, 30_000)]

    assert runs == [2, 3]


def test_a_whole_number_of_runs_is_not_rounded_up() -> None:
    # 0.3 / (0.3 - 0.2) is 3.0000000000000004 in binary.
    assert breakeven(Migration(0.3, 0.3, 0.2, 1)).answer.runs == 3


def test_the_table_shows_a_dearer_migration_and_a_smaller_saving() -> None:
    answer = breakeven(Migration(1000, 300, 200, 5), cost_factors=(1, 2), saving_factors=(0.5, 1))

    # 100 saved a run: 10 runs, 2 months; half the saving or twice the cost take twice as long.
    assert answer.sensitivity == (
        Point(1, 0.5, 20, 20.0, 4.0),
        Point(1, 1, 10, 10.0, 2.0),
        Point(2, 0.5, 40, 40.0, 8.0),
        Point(2, 1, 20, 20.0, 4.0),
    )


def test_the_answer_is_a_row_of_its_own_table() -> None:
    answer = breakeven(Migration(1000, 300, 200, 5))

    assert answer.answer in answer.sensitivity


@pytest.mark.parametrize("after", [300, 400])
def test_a_way_that_does_not_cost_less_never_breaks_even(after: float) -> None:
    with pytest.raises(PlanError, match=r"after is not below \$300.00 before: it never breaks even"):
        breakeven(Migration(1000, 300, after, 5))


@pytest.mark.parametrize("numbers", [(0, 3, 2, 1), (1, -3, 2, 1), (1, 3, 0, 1), (1, 3, 2, float("nan"))])
def test_numbers_out_of_range_are_refused(numbers: tuple[float, float, float, float]) -> None:
    with pytest.raises(PlanError, match="it must be above 0"):
        Migration(*numbers)
