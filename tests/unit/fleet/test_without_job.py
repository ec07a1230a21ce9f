"""Nodes that are paid for and have no job: when their patience is over, and what never counts."""

from typing import Any

import pytest

from fleet.fleet_spec import MarketKind
from fleet.node_state import Memory, Observation, Verdict, decide
from fleet.without_job import is_unused, patience_minutes

FREE: dict[str, Any] = {}
WORKS = {"holds_cores": True, "job": "job-1", "completed": 3}


def after(*minutes: dict[str, Any], memory: Memory | None = None, at: float = 0.0) -> Verdict:
    """The verdict of the last of ``minutes``, one observation each, from unix second ``at`` on."""
    memory = memory or Memory()
    for index, minute in enumerate(minutes):
        verdict = decide(Observation(at=at + index * 60.0, **minute), memory)
        memory = verdict.memory
    return verdict


def test_half_an_hour_without_a_job_is_a_gap_and_the_next_minute_is_not() -> None:
    assert is_unused(after(*[FREE] * 30), 30) is False
    assert is_unused(after(*[FREE] * 31), 30) is True


def test_a_job_in_between_begins_the_count_anew() -> None:
    assert is_unused(after(*[FREE] * 30, WORKS, *[FREE] * 30), 30) is False
    assert is_unused(after(*[FREE] * 30, WORKS, *[FREE] * 31), 30) is True


def test_a_registered_job_that_holds_no_core_yet_is_a_job() -> None:
    assert is_unused(after(*[FREE] * 90, {"job": "job-1"}), 30) is False


@pytest.mark.parametrize("why", [{"draining": "told to"}, {"fault": "hbm-uncorrectable"}])
def test_a_node_that_takes_no_jobs_is_not_unused_and_counts_from_when_it_takes_them_again(why: dict[str, Any]) -> None:
    told = after(*[FREE] * 90, *[why] * 5)

    assert is_unused(told, 30) is False
    assert told.memory.free_since is None


def test_minutes_that_nobody_saw_count_and_say_nothing() -> None:
    seen = after(*[FREE] * 20, *[{"blind": "no report"}] * 9)

    assert is_unused(seen, 30) is None
    assert is_unused(after(FREE, FREE, memory=seen.memory, at=29 * 60.0), 30) is True


def test_a_clock_that_was_set_back_neither_lengthens_nor_ends_the_count() -> None:
    known = after(*[FREE] * 20, at=7200.0).memory

    assert is_unused(after(*[FREE] * 11, memory=known), 30) is False
    assert is_unused(after(*[FREE] * 12, memory=known), 30) is True


@pytest.mark.parametrize(
    ("market", "minutes"),
    [
        (MarketKind.ON_DEMAND, 30),
        (MarketKind.SPOT, 30),
        (MarketKind.RESERVATION, 120),
        (MarketKind.CAPACITY_BLOCK, 120),
    ],
)
def test_what_is_paid_in_advance_may_wait_for_longer(market: MarketKind, minutes: int) -> None:
    assert patience_minutes(market) == minutes


def test_a_pool_may_keep_its_nodes_for_as_long_as_it_was_told_to_and_end_them_in_good_order() -> None:
    assert patience_minutes(MarketKind.SPOT, kept_minutes=10) == 30
    assert patience_minutes(MarketKind.SPOT, kept_minutes=60) == 80
    assert patience_minutes(MarketKind.RESERVATION, kept_minutes=60) == 120
