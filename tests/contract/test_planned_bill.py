"""What `fleet plan cost` counts of metrics and log events is what agents send."""

import json
from collections import Counter

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.log_event import log_event
from agents.minute.pipeline import Surroundings
from fleet import metrics
from fleet.metrics import CATALOGUE, MetricSpec, Publisher
from planning.month.cloudwatch import SERIES_OF_A_FLEET, SERIES_OF_A_JOB, SERIES_OF_EFA, event_bytes
from tests.support import agents, large_node, samples

JOB = Job("train-1", "llama", "ada", registered=True)
# How CloudWatch Logs is sent an event, and how the sink writes it.
COMPACT = (",", ":")


def full_minute(*spoken: MetricSpec) -> NodeMinute:
    """A trn1.32xlarge at work for one job, whose workload reports ``spoken``."""
    specs = [
        samples.RuntimeSpec(
            pid=41000 + core,
            tag=f"rank{core}",
            busy={core: 31.4159 + core},
            flops={core: 3.6789e13 + core * 1e11},
            tensors={core: 10**10 + core * 12_345_678},
            completed=10 + core,
            p99=0.0412345 + core / 1000,
        )
        for core in range(32)
    ]
    said = {JOB.job_id: dict.fromkeys(spoken, 1.5)} if spoken else {}
    around = Surroundings(Contribution(jobs=(JOB,), job_metrics=said))
    return agents.one_minute(*[samples.report(specs)] * 12, around=around, own=SelfFigures(rss_bytes=70_000_000))


def series_of_the_job(minute: NodeMinute) -> int:
    return Counter(len(datum["Dimensions"]) for datum in metric_data(minute))[3]


def test_a_job_has_as_many_series_as_are_priced() -> None:
    workload = (metrics.TOKENS_PER_SECOND, metrics.TRAINING_LOSS)
    everything = sum(spec.per_job for spec in CATALOGUE.values())

    assert series_of_the_job(full_minute()) == SERIES_OF_A_JOB.low
    assert series_of_the_job(full_minute(*workload)) == SERIES_OF_A_JOB.expected
    assert everything == SERIES_OF_A_JOB.high


def test_a_fleet_has_no_more_series_than_are_priced_at_most() -> None:
    of_fleets = [spec for spec in CATALOGUE.values() if spec.per_fleet]
    of_agents = [spec for spec in of_fleets if spec.publisher is Publisher.AGENT]

    assert len(of_fleets) == SERIES_OF_A_FLEET.high + SERIES_OF_EFA
    assert SERIES_OF_A_FLEET.low < len(of_agents) < SERIES_OF_A_FLEET.high


@pytest.mark.parametrize(("minute", "cores"), [(full_minute(), 32), (large_node.trn2_minute(agents.MINUTE), 128)])
def test_an_event_is_as_long_as_is_priced_without_host_and_driver(minute: NodeMinute, cores: int) -> None:
    measured = len(json.dumps(log_event(minute), separators=COMPACT))

    assert measured == pytest.approx(event_bytes(cores).low, rel=0.05)
    assert measured < event_bytes(cores).expected
