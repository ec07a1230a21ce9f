"""What a node says that has had no job for a while; the rule itself is in tests/unit/fleet/test_without_job.py."""

from typing import Any

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from tests.support import agents, samples

JOB = Job("job-1", "llama", "research", registered=True)
EMPTY = samples.line(samples.report([]))


def unused(minutes: int, *, then_a_job: bool = False, **config: Any) -> list[float | None]:
    """What each of ``minutes`` without a job says, and one more with it."""
    pipeline = Pipeline(agents.config(price=None, **config), "i-1", agents.MINUTE)
    found: list[float | None] = []
    for index in range(minutes + then_a_job):
        begin = agents.MINUTE + 60 * index
        for second in range(5, 60, 5):
            pipeline.line(EMPTY, begin + second)
        jobs = (JOB,) if index == minutes else ()
        entry = pipeline.close(begin, begin + 60, index + 1, Surroundings(Contribution(jobs=jobs)), SelfFigures())
        said = [datum["Value"] for datum in metric_data(entry) if datum["MetricName"] == "NodesUnused"]
        found.append(said[0] if said else None)
    return found


def test_a_node_is_unused_from_the_minute_after_its_patience_on_until_a_job_comes() -> None:
    assert unused(32, then_a_job=True) == [*[0] * 30, 1, 1, 0]


def test_the_configuration_says_for_how_long_it_may_wait() -> None:
    assert unused(6, without_job_minutes=5) == [*[0] * 5, 1]


def test_an_endpoints_node_says_nothing_of_it() -> None:
    assert unused(3, purpose="inference", without_job_minutes=1) == [None] * 3
