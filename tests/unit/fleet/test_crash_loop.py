"""Runs that end in vain, close to each other: what is a crash loop, and what only looks like one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fleet.crash_loop import Runs, RunSeen, after, looping

GONE: None = None
OTHER = RunSeen("job-2", frozenset({99}), 5)


def run(pid: int = 1, completed: int | None = 0, **said: Any) -> RunSeen:
    return RunSeen("job-1", frozenset({pid}), completed, **said)


def lived(
    minutes: Sequence[RunSeen | Sequence[RunSeen] | None],
    known: Mapping[str, Runs] | None = None,
    *,
    start: int = 0,
    is_well: bool = True,
) -> dict[str, Runs]:
    """What is remembered after ``minutes``, which begin at minute ``start``."""
    now = dict(known or {})
    for index, minute in enumerate(minutes):
        seen = () if minute is None else (minute,) if isinstance(minute, RunSeen) else minute
        now = after(now, seen, 60.0 * (start + index), is_well=is_well)
    return now


def loops(
    minutes: Sequence[RunSeen | Sequence[RunSeen] | None], known: Mapping[str, Runs] | None = None, start: int = 0
) -> bool:
    """Whether some job crashes in a loop in the last of ``minutes``."""
    at = 60.0 * (start + len(minutes) - 1)
    return bool(looping(lived(minutes, known, start=start), at))


CRASH = [run(), run(), GONE]


def test_three_runs_in_vain_are_a_loop_and_two_are_not() -> None:
    assert not loops(CRASH * 2)
    assert not loops([*CRASH * 2, run(), run()])
    assert loops(CRASH * 3)
    assert len(looping(lived(CRASH * 4), 11 * 60.0)["job-1"].vain) == 4


def test_it_lasts_over_starts_and_gaps_until_an_execution_completes() -> None:
    for more in range(6):
        assert loops([*CRASH * 3, *(CRASH * 2)[:more]])
    assert not loops([*CRASH * 3, run(), run(completed=1)])
    # And then it takes three again.
    assert not loops([*CRASH * 3, run(completed=1), GONE, *CRASH * 2])
    assert loops([*CRASH * 3, run(completed=1), GONE, *CRASH * 3])


def test_processes_that_are_others_than_before_are_a_new_run() -> None:
    assert loops([run(pid) for pid in (1, 2, 3, 4)])
    assert not loops([run(pid) for pid in (1, 2, 3)])
    # A launcher that lets go of its dead workers first, and a registration before its first process.
    none_yet = RunSeen("job-1", frozenset(), 0)
    assert loops([none_yet, run(1), none_yet, run(2), none_yet, run(3), none_yet, run(4)])
    assert not loops([none_yet, run(1)] * 4)


def test_a_part_of_the_processes_that_is_replaced_is_no_new_run() -> None:
    rolling = [RunSeen("job-1", frozenset({pid, pid + 1}), 0) for pid in range(8)]

    assert not loops(rolling)


def test_a_job_that_gets_on_between_its_restarts_is_never_told_of() -> None:
    assert not loops([run(), run(completed=4), GONE] * 20)


@pytest.mark.parametrize("why", [{"has_reason": True}, {"completed": None}])
def test_runs_that_compiled_said_what_they_do_or_were_not_measured_do_not_count(why: dict[str, Any]) -> None:
    assert not loops([run(), run(**why), run(), GONE] * 8)


def test_a_node_that_drains_or_has_a_fault_ends_runs_itself() -> None:
    known: dict[str, Runs] = {}
    for start in range(0, 24, 3):
        known = lived([run(), run()], known, start=start)
        known = lived([GONE], known, start=start + 2, is_well=False)

    assert not looping(known, 23 * 60.0)


def test_runs_that_lie_far_apart_are_no_loop() -> None:
    half_an_hour = [*[run()] * 29, GONE]
    longer = [*[run()] * 45, GONE]

    assert loops(half_an_hour * 3)
    assert not loops(longer * 4)


def test_a_job_that_stays_away_was_given_up_and_is_forgotten() -> None:
    assert loops([*CRASH * 3, *[GONE] * 14])
    assert not loops([*CRASH * 3, *[GONE] * 15])
    assert lived([*CRASH * 3, *[GONE] * 90]) == {}


def test_another_job_on_the_node_takes_the_place_of_one_that_is_away() -> None:
    assert not loops([*CRASH * 3, [OTHER]])
    assert loops([*CRASH * 3, [OTHER, run()]])


def test_minutes_without_an_agent_end_no_run_in_vain() -> None:
    known: dict[str, Runs] = {}
    # Each time the job has come back as other processes while nobody looked: nobody knows what it did.
    for start in range(0, 60, 10):
        known = lived([run(start), run(start)], known, start=start)

    assert not looping(known, 51 * 60.0)


def test_a_clock_that_was_set_back_keeps_what_was_counted() -> None:
    known = lived(CRASH * 2, start=600)

    assert loops(CRASH, known, start=0)
    # And for as long as otherwise.
    assert not loops([*[run()] * 95, GONE, *CRASH], known, start=0)


def test_jobs_are_counted_each_by_itself() -> None:
    both = [RunSeen(f"job-{index % 6}", frozenset({index}), 0) for index in range(12)]

    assert not loops([each for one in both for each in (one, GONE)])
