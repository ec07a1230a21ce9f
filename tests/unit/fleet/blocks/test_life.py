"""Which step is due when. The block ends on 22 November at 11:30 UTC."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fleet.blocks.life import Block, Step, due, key, next_look, seconds_for_job

END = datetime(2026, 11, 22, 11, 30, tzinfo=UTC)
BLOCK = Block("cr-1", "frontier", 2, END - timedelta(days=3), END, is_delivered=True)


def done(*steps: Step) -> frozenset[str]:
    return frozenset(key(step, BLOCK) for step in steps)


@pytest.mark.parametrize(
    ("before_end", "steps"),
    [
        (timedelta(hours=72), [Step.SCALE_UP]),
        (timedelta(hours=48), [Step.SCALE_UP, Step.PROPOSE_EXTENSION]),
        (timedelta(minutes=61), [Step.SCALE_UP, Step.PROPOSE_EXTENSION]),
        (timedelta(minutes=60), [Step.SCALE_UP, Step.CHECKPOINT]),
        (timedelta(minutes=40), [Step.CHECKPOINT, Step.DRAIN]),
        (timedelta(minutes=35), [Step.STOP]),
        (timedelta(0), [Step.STOP, Step.POST_MORTEM]),
    ],
)
def test_a_first_look_that_comes_late_takes_the_steps_that_still_make_sense(
    before_end: timedelta, steps: list[Step]
) -> None:
    assert list(due(BLOCK, frozenset(), END - before_end)) == steps


def test_what_was_done_is_not_due_again() -> None:
    day_before = END - timedelta(hours=24)

    assert due(BLOCK, done(Step.PROPOSE_EXTENSION), day_before) == (Step.SCALE_UP,)


def test_nothing_is_scaled_up_before_the_capacity_is_there() -> None:
    late = replace(BLOCK, is_delivered=False)

    assert due(late, frozenset(), BLOCK.start + timedelta(hours=1)) == ()
    assert due(replace(BLOCK, start=END - timedelta(hours=10)), frozenset(), END - timedelta(hours=11)) == (
        Step.PROPOSE_EXTENSION,
    )


def test_an_extension_makes_every_step_due_again_for_the_new_end() -> None:
    extended = replace(BLOCK, end=END + timedelta(days=1))

    assert due(extended, done(*Step), END) == (Step.SCALE_UP, Step.PROPOSE_EXTENSION)


def test_the_next_look_is_at_the_next_step() -> None:
    assert next_look(BLOCK, END - timedelta(minutes=61)) == END - timedelta(minutes=60)
    assert next_look(BLOCK, END) is None


def test_a_job_gets_the_time_until_five_minutes_before_termination_or_is_not_started() -> None:
    # From 10:00 to 10:55: 55 minutes.
    assert seconds_for_job(BLOCK, datetime(2026, 11, 22, 10, 0, tzinfo=UTC)) == 3300
    assert seconds_for_job(BLOCK, datetime(2026, 11, 22, 10, 45, tzinfo=UTC)) == 600
    assert seconds_for_job(BLOCK, datetime(2026, 11, 22, 10, 46, tzinfo=UTC)) is None
