"""Who may compile a graph, step by step, with the clock in hand."""

from dataclasses import replace

import pytest

from fleet.compile_cache import lease
from fleet.compile_cache.lease import Row, State, Step, Terms

TERMS = Terms(lease=60, skew=2, visible=90, refusal=3600, attempts=2)
T = 1_000_000.0
HELD = lease.take(None, "a", T, TERMS)


def step(row: Row | None, now: float) -> tuple[Step, float]:
    advice = lease.advise(row, now, TERMS)
    return advice.step, advice.until


def test_a_graph_that_nobody_asked_for_is_taken() -> None:
    assert step(None, T) == (Step.TAKE, 0.0)
    assert Row(1, 1, State.COMPILING, "a", until=T + 60, changed=T) == HELD


@pytest.mark.parametrize(("after", "expected"), [(0, Step.WAIT), (60, Step.WAIT), (62, Step.WAIT), (62.5, Step.TAKE)])
def test_a_lease_is_respected_until_it_ends_and_a_little_longer(after: float, expected: Step) -> None:
    # 60 s and 2 s that clocks may differ by.
    assert step(HELD, T + after)[0] is expected


def test_a_waiter_knows_how_long_waiting_makes_sense() -> None:
    assert step(HELD, T) == (Step.WAIT, T + 62)
    assert step(lease.finish(HELD, 5.0, T), T) == (Step.WAIT, T + 90)


def test_a_renewed_lease_ends_later_and_keeps_its_token() -> None:
    renewed = lease.renew(HELD, T + 20, TERMS)

    assert (renewed.until, renewed.token, renewed.revision) == (T + 80, 1, 2)


def test_each_holder_has_a_larger_token() -> None:
    heir = lease.take(HELD, "b", T + 63, TERMS)

    assert (heir.token, heir.revision, heir.holder) == (2, 2, "b")


def test_what_was_promoted_and_does_not_show_is_waited_for_before_it_is_taken() -> None:
    done = lease.finish(lease.confirm(HELD, T + 10, TERMS), 9.5, T + 11)

    assert step(done, T + 11 + 90)[0] is Step.WAIT
    assert step(done, T + 11 + 91)[0] is Step.TAKE
    assert (done.seconds, done.failures) == (9.5, 0)


@pytest.mark.parametrize(
    ("state", "expected"),
    [(State.PROMOTING, True), (State.DONE, True), (State.COMPILING, False), (State.FAILED, False), (State.FREE, False)],
)
def test_a_holder_that_died_while_promoting_may_have_promoted(state: State, expected: bool) -> None:
    assert lease.may_be_promoted(replace(HELD, state=state)) is expected
    assert not lease.may_be_promoted(None)


def test_the_second_failure_refuses_the_graph_for_an_hour() -> None:
    once = lease.fail(HELD, "out of memory", T, TERMS)
    twice = lease.fail(lease.take(once, "b", T, TERMS), "x" * 1000, T, TERMS)

    assert step(once, T)[0] is Step.TAKE
    assert step(twice, T) == (Step.REFUSED, T + 3600)
    assert step(twice, T + 3601)[0] is Step.TAKE
    assert (once.reason, len(twice.reason), twice.failures) == ("out of memory", 400, 2)


def test_a_released_graph_is_taken_at_once_and_its_failures_are_forgotten() -> None:
    freed = lease.release(lease.fail(HELD, "no", T, TERMS), T)

    assert step(freed, T)[0] is Step.TAKE
    assert (freed.failures, freed.token) == (0, 1)


def test_a_holder_may_miss_two_renewals_and_live() -> None:
    # 60 s in three.
    assert TERMS.renewal == 20
