"""One bad job of a node is seen beside good ones, and none is called bad that has an excuse."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fleet.job_progress import HANG_MINUTES, JobSeen, Remembered, WorstJob, judge
from fleet.node_state import Memory, NodeState, Observation, Verdict, decide
from fleet.patience import Announced

MINUTE = 60.0


def job(
    name: str = "a", completed: int | None = 100, core: float | None = 97.0, tensor: float | None = 42.0
) -> JobSeen:
    return JobSeen(
        name, holds_cores=core is not None, completed=completed, core_percent=core, tensor_engine_percent=tensor
    )


HUNG = job("hung", completed=0, core=99.0, tensor=0.0)
STARTS = job("new", completed=0, core=None, tensor=None)


class Node:
    """Lives minutes of the same jobs."""

    def __init__(self) -> None:
        self.at = 0.0
        self.memory = Memory()
        self.known: Mapping[str, Remembered] = {}

    def live(self, minutes: int, *jobs: JobSeen, blind: str | None = None, compiling: bool = False) -> WorstJob:
        worst = WorstJob()
        for _ in range(minutes):
            measured = [each.completed for each in jobs if each.completed is not None]
            seen = Observation(
                at=self.at,
                blind=blind,
                holds_cores=bool(jobs),
                job=jobs[0].job_id if jobs else None,
                compiling=compiling,
                completed=sum(measured) if measured else None,
            )
            verdict = decide(seen, self.memory)
            self.memory = verdict.memory
            worst, self.known = judge(jobs, seen, verdict, self.known)
            self.at += MINUTE
        return worst


def test_a_job_hangs_after_ten_minutes_beside_one_that_goes_on() -> None:
    node = Node()
    node.live(5, job("good"), job("hung"))

    assert node.live(HANG_MINUTES - 1, job("good"), HUNG).hangs is False
    assert node.live(1, job("good"), HUNG).hangs is True
    assert node.live(1, job("good"), job("hung")).hangs is False


def test_a_pause_from_before_a_long_gap_says_nothing_of_the_one_behind_it() -> None:
    node = Node()
    node.live(60, job())
    node.live(2, job(completed=0, core=0.4))
    node.live(30, job(completed=None, core=None), blind="silent")

    assert node.live(1, job(completed=0, core=0.4)).idle == ()
    assert node.live(2, job(completed=0, core=0.4)).idle == ("a",)


def test_a_job_that_was_blind_while_it_began_waits_for_nobody_at_once() -> None:
    node = Node()
    node.live(5, job(completed=0, core=0.4), compiling=True)
    node.live(60, job(completed=None, core=None), blind="silent")

    assert node.live(9, job(completed=0, core=0.4)).waiting == ()
    assert node.live(1, job(completed=0, core=0.4)).waiting == ("a",)


def test_a_job_that_executes_nothing_is_not_slow() -> None:
    node = Node()
    node.live(2, job("good"), job("hung"))

    assert node.live(3, job("good"), HUNG).tensor_engine_percent == 42


def test_the_lowest_of_the_running_jobs_counts() -> None:
    worst = Node().live(2, job("good"), job("slow", core=60.0, tensor=8.0))

    assert worst == WorstJob(core_percent=60, tensor_engine_percent=8, hangs=False, idle_share=0.0)


def test_an_idle_job_is_idle_and_does_not_hang() -> None:
    node = Node()
    node.live(2, job())

    assert node.live(30, job(completed=0, core=0.4, tensor=0.0)) == WorstJob(
        core_percent=0.4, hangs=False, idle_share=1.0, idle=("a",)
    )


def test_a_job_that_starts_beside_a_running_one_is_excused_for_half_an_hour() -> None:
    node = Node()
    node.live(5, job("good"))

    excused = node.live(30, job("good"), STARTS)
    assert (excused.core_percent, excused.hangs) == (97, False)
    after_it = node.live(1, job("good"), STARTS)
    assert (after_it.hangs, after_it.waiting, after_it.idle_share) == (False, ("new",), 1.0)


def test_an_idle_job_counts_by_its_part_of_the_node() -> None:
    node = Node()
    node.live(40, job("good"), job("small"))

    rests = replace(job("small", completed=0, core=0.0, tensor=0.0), share=0.25)
    assert node.live(3, replace(job("good"), share=0.75), rests).idle_share == 0.25


def test_a_job_of_which_a_phase_is_announced_excuses_itself_and_no_other() -> None:
    node = Node()
    node.live(40, job("good"), job("other"))
    rests = job("good", completed=0, core=0.0, tensor=0.0)

    announced = node.live(8, replace(rests, phase=Announced("validation")), replace(rests, job_id="other"))
    assert announced.idle == ("other",)


def test_a_job_that_starves_by_turns_is_low_by_its_mean_of_three_quarters_of_an_hour() -> None:
    node = Node()
    for _ in range(5):
        node.live(4, job(tensor=3.0, core=5.5))
        node.live(4, job(tensor=25.0, core=60.0))

    assert node.live(4, job(tensor=25.0)).tensor_engine_percent == 25
    assert node.live(1, job(tensor=25.0)).tensor_engine_percent == pytest.approx(15.2, abs=0.2)
    assert node.live(1, job(tensor=3.0)).tensor_engine_percent == 3


def test_an_evaluation_of_ten_minutes_is_low_for_no_longer_than_it_lasts() -> None:
    node = Node()
    node.live(60, job(tensor=42.0))
    node.live(10, job(tensor=6.0))

    assert node.live(1, job(tensor=42.0)).tensor_engine_percent == pytest.approx(34, abs=0.5)


def test_a_job_that_compiles_beside_a_running_one_is_excused() -> None:
    node = Node()
    node.live(5, job("good"))

    assert node.live(60, job("good"), STARTS, compiling=True).hangs is False


def test_nothing_is_said_of_a_node_that_nobody_sees_and_nothing_is_forgotten() -> None:
    node = Node()
    node.live(2, job("hung"))
    node.live(HANG_MINUTES - 1, HUNG)

    assert node.live(3, HUNG, blind="silent") == WorstJob()
    assert node.live(1, HUNG).hangs is True


def test_unmeasured_executions_are_neither_a_hang_nor_its_end() -> None:
    node = Node()
    node.live(2, job("hung"))
    node.live(HANG_MINUTES - 1, HUNG)

    assert node.live(5, job("hung", completed=None, core=99.0)).hangs is None
    assert node.live(1, HUNG).hangs is True


def test_a_node_without_a_job_has_nothing_that_hangs() -> None:
    verdict = Verdict(NodeState.NO_JOB, "", Memory())

    assert judge((), Observation(at=0.0), verdict, {"old": Remembered()}) == (
        WorstJob(hangs=False, idle_share=0.0),
        {},
    )
