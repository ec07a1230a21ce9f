"""What a node says of its worst job, minute by minute. Figures by hand: who runs, idles, hangs, and who is unseen."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.job_progress import HANG_MINUTES
from tests.support import agents, samples
from tests.support.samples import GIB, Json, RuntimeSpec
from tests.unit.agents.truth.published import OF_THE_WORST_JOB, figures

JOBS = tuple(Job(name, name, "research", registered=True, pids=(pid,)) for pid, name in ((1, "big"), (2, "small")))
# Two cores each, of 92 TFLOP/s: 36.8 of it is 40 %, 4.6 is 5 %.
BIG = RuntimeSpec(1, "a", {0: 50.0, 1: 50.0}, {0: 36.8e12, 1: 36.8e12}, {0: GIB, 1: GIB}, 10)
SLOW = RuntimeSpec(2, "b", {2: 30.0, 3: 10.0}, {2: 6.9e12, 3: 2.3e12}, {2: GIB, 3: GIB}, 3)
IDLE = RuntimeSpec(2, "b", {2: 0.0, 3: 0.0}, {2: 0.0, 3: 0.0}, {2: GIB, 3: GIB}, 0)
SPINS = RuntimeSpec(2, "b", {2: 99.0, 3: 99.0}, {2: 0.0, 3: 0.0}, {2: GIB, 3: GIB}, 0)
Said = Mapping[str, Any]


def said(minutes: Sequence[Json | None], jobs: tuple[Job, ...] = JOBS) -> list[Said]:
    """What each minute says of the worst job; one report, or None for a monitor that is silent."""
    pipeline = Pipeline(agents.config(price=None), "i-1", agents.MINUTE)
    found: list[Said] = []
    for index, report in enumerate(minutes):
        begin = agents.MINUTE + 60 * index
        if report is not None:
            for second in range(5, 60, 5):
                pipeline.line(samples.line(report), begin + second)
        entry = pipeline.close(begin, begin + 60, index + 1, Surroundings(Contribution(jobs=jobs)), SelfFigures())
        published = figures(metric_data(entry), left_out=())
        found.append({name: published[name] for name in sorted(OF_THE_WORST_JOB & published.keys())})
    return found


def figure(core: float | None, tensor: float | None, hung: int) -> Said:
    """The three metrics; None is one that must be absent."""
    measured = {"LowestJobCoreUtilization": core, "LowestJobTensorEngineUtilization": tensor, "NodesHung": hung}
    return {name: pytest.approx(value) for name, value in measured.items() if value is not None}


def node(*specs: RuntimeSpec) -> Json:
    return samples.report(specs)


def test_the_worse_of_two_jobs_speaks_for_the_node() -> None:
    # (30 + 10) / 2 of the cores' time; (7.5 + 2.5) / 2 % of the tensor engines. Over all four it would be 35 and 23.
    assert said([node(BIG, SLOW)]) == [figure(20, 5, 0)]


def test_a_job_alone_is_the_worst() -> None:
    assert said([samples.full_node()], jobs=()) == [figure(50, 40, 0)]


def test_an_idle_job_is_the_lowest_of_the_cores_and_not_of_those_that_execute() -> None:
    ran, *idles = said([node(BIG, SLOW), *[node(BIG, IDLE)] * (HANG_MINUTES + 2)])

    assert ran == figure(20, 5, 0)
    # Cores that rest are no hang, however long.
    assert idles == [figure(0, 40, 0)] * (HANG_MINUTES + 2)


def test_a_job_that_spins_hangs_in_its_tenth_minute_beside_one_that_runs() -> None:
    _, *spins = said([node(BIG, SLOW), *[node(BIG, SPINS)] * (HANG_MINUTES + 1), node(BIG, SLOW)])

    assert spins == [*[figure(50, 40, 0)] * (HANG_MINUTES - 1), *[figure(50, 40, 1)] * 2, figure(20, 5, 0)]


def test_a_node_that_nobody_sees_says_nothing_of_its_jobs_and_forgets_no_hang() -> None:
    told = said([node(BIG, SLOW), *[node(BIG, SPINS)] * (HANG_MINUTES - 1), None, None, node(BIG, SPINS)])

    assert told[-3:-1] == [{}, {}]
    assert told[-1] == figure(50, 40, 1)


def test_a_node_without_a_job_has_no_worst_one_and_does_not_hang() -> None:
    assert said([samples.report([])], jobs=()) == [figure(None, None, 0)]
