"""When a pause is an idle job: what excuses it, for how long, and what is one incident."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.idleness import DUTY_MINUTES, IDLE_MINUTES, YOUNG_MINUTES, Idleness, RunningMinute, after, behind_a_gap

REST, WORK = RunningMinute(0.4), RunningMinute(97.0)
ON_CPU = RunningMinute(0.4, cpu_percent=45.0)


def lived(*minutes: RunningMinute | None, known: Idleness | None = None) -> Idleness:
    known = known or Idleness()
    for minute in minutes:
        known = after(known, minute)
    return known


GROWN = lived(*[WORK] * YOUNG_MINUTES)


def told(*minutes: RunningMinute | None, known: Idleness = GROWN) -> list[bool]:
    """Whether the job idles, minute by minute."""
    found = []
    for minute in minutes:
        known = after(known, minute)
        found.append(known.is_idle)
    return found


def test_a_job_idles_in_the_third_minute_in_which_its_cores_rest() -> None:
    assert told(*[REST] * 4) == [False] * (IDLE_MINUTES - 1) + [True] * 2
    assert told(REST, REST, WORK, REST, REST) == [False] * 5


def test_a_minute_that_is_excused_or_unmeasured_neither_ends_a_pause_nor_lengthens_it() -> None:
    assert told(REST, REST, None, RunningMinute(None), REST) == [False] * 4 + [True]


def test_one_tick_above_idle_does_not_end_a_pause() -> None:
    assert told(REST, REST, RunningMinute(6.0)) == [False, False, True]
    assert told(*[RunningMinute(6.0)] * 9) == [False] * 9


def test_a_validation_on_the_cpus_is_believed_for_a_quarter_of_an_hour() -> None:
    assert told(*[ON_CPU] * 15) == [False] * 14 + [True]
    # CPUs that were busy before the pause prove nothing.
    assert told(*[RunningMinute(97.0, 45.0)] * 9, *[REST] * 3)[-1]


def test_cheap_nodes_are_believed_on_their_cpus_until_they_have_cost_something() -> None:
    cheap = RunningMinute(0.4, cpu_percent=45.0, usd_per_hour=1.34)
    reserved = RunningMinute(0.4, cpu_percent=45.0, usd_per_hour=15.0)

    assert told(*[cheap] * 45) == [False] * 44 + [True]
    # Five dollars.
    assert told(*[reserved] * 20) == [False] * 19 + [True]


def test_what_is_believed_without_a_word_of_the_job_ends_at_ten_dollars() -> None:
    dear = RunningMinute(0.4, cpu_percent=45.0, usd_per_hour=60.0)

    assert told(*[dear] * 10) == [False] * 9 + [True]


def test_an_excuse_that_is_used_up_is_not_followed_by_the_next() -> None:
    outlasted = RunningMinute(0.4, cpu_percent=45.0, pause_minutes=31)

    assert told(*[outlasted] * 3) == [False, False, True]


def test_a_young_job_may_pause_for_longer() -> None:
    assert told(*[WORK] * 3, *[REST] * 10, known=Idleness()) == [False] * 12 + [True]


def test_a_job_that_rolls_out_for_seven_minutes_and_trains_for_three_never_idles() -> None:
    assert not any(told(*([*[WORK] * 3, *[REST] * 7] * 30), known=Idleness()))


def test_a_pause_that_the_job_has_made_twice_is_a_habit_and_no_longer_one_is() -> None:
    known = lived(*[*[WORK] * 20, *[REST] * 8] * 2, *[WORK] * 3, known=GROWN)

    assert told(*[REST] * 10, known=known) == [False] * 9 + [True]


def test_pauses_of_a_quarter_of_an_hour_are_never_learned() -> None:
    known = lived(*[*[WORK] * 30, *[REST] * 15] * 4, *[WORK] * 3, known=GROWN)

    assert told(*[REST] * 3, known=known)[-1]


def test_a_job_that_works_one_minute_in_ten_idles_however_short_its_pauses_are() -> None:
    turns = [WORK, *[REST] * 9] * 6

    assert told(*turns, *turns, known=Idleness()).count(True) > len(turns) / 2


def test_a_job_that_rolls_out_on_the_cpus_for_most_of_an_hour_does_not_idle() -> None:
    turns = [*[ON_CPU] * 12, *[WORK] * 2] * 10

    assert not any(told(*turns))


def test_behind_minutes_that_nobody_saw_a_pause_begins_anew_and_what_was_told_goes_on() -> None:
    assert told(REST, known=behind_a_gap(lived(REST, REST, known=GROWN))) == [False]
    assert told(REST, known=behind_a_gap(lived(*[REST] * 3, known=GROWN))) == [True]


def test_a_job_that_idles_is_busy_again_after_three_minutes_of_work() -> None:
    idle = lived(*[REST] * 5, known=GROWN)

    assert told(WORK, WORK, REST, known=idle) == [False, False, True]
    assert told(WORK, WORK, WORK, REST, known=idle) == [False] * 4


minutes = st.lists(st.sampled_from([REST, WORK, ON_CPU, None, RunningMinute(0.4, 45.0, 21.5)]), max_size=150)


@given(minutes)
def test_after_any_life_a_quarter_of_an_hour_of_rest_is_told(life: list[RunningMinute | None]) -> None:
    assert told(*[REST] * 15, known=lived(*life))[-1]


@given(minutes)
def test_what_is_remembered_is_bounded_and_a_working_minute_never_idles(life: list[RunningMinute | None]) -> None:
    known = lived(*life)

    assert len(known.recent) <= DUTY_MINUTES
    assert len(known.pauses) <= 8
    assert not after(known, WORK).is_idle
    assert not after(known, None).is_idle
