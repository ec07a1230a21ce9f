"""The agent's output against the catalogue: what alarms and dashboards look at is what is sent, and nothing else."""

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.aggregate import metric_data
from agents.batch import NodeMinute, SelfFigures
from agents.collectors.collector import Contribution
from agents.collectors.job import Job
from agents.log_event import log_event
from agents.pipeline import Pipeline, Surroundings
from fleet.metrics import CATALOGUE, Kind
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.samples import Json, RuntimeSpec

JOB = Job("job-1", "llama", "research", registered=True)
WHEN_RUNNING = {"TensorEngineUtilizationWhenRunning", "NeuronCoreUtilizationWhenRunning"}
WORK = {name for name in CATALOGUE if "Utilization" in name or name.startswith(("Hbm", "Achieved", "Execution"))}
SHAPES: list[Json] = [
    samples.full_node(),
    samples.colliding_tags(),
    samples.grouped_cores(),
    samples.idle_first_record(),
    samples.no_driver(),
    samples.no_devices(),
    samples.null_sections(),
    samples.report(
        [RuntimeSpec(1, "a", {0: 130.0}, {0: 200e12}, {0: 1}, 5, 1, 1, 0.2)], ecc={3: {"mem_ecc_uncorrected": 2}}
    ),
    samples.report([RuntimeSpec(1, "a", flop_keys=())], seconds=0.0005),
]


def assert_in_catalogue(datum: dict[str, Any]) -> None:
    spec = CATALOGUE[datum["MetricName"]]
    assert datum["Unit"] == spec.unit.value
    assert tuple(dimension["Name"] for dimension in datum["Dimensions"]) in spec.dimension_sets
    assert datum["StorageResolution"] == 60
    assert datetime.fromisoformat(datum["Timestamp"]).timestamp() % 60 == 0
    shape = {"Value", "Values", "Counts", "StatisticValues"} & datum.keys()
    if spec.kind is Kind.DISTRIBUTION:
        assert shape == {"Values", "Counts"}
        assert len(datum["Values"]) == len(set(datum["Values"])) == len(datum["Counts"]) <= 150
        assert all(0 <= value <= 100 and value == int(value) for value in datum["Values"])
    elif spec.kind is Kind.STATISTICS:
        assert shape == {"StatisticValues"}
        assert datum["StatisticValues"]["Minimum"] <= datum["StatisticValues"]["Maximum"]
    else:
        assert shape == {"Value"}
    if spec.kind is Kind.STATE:
        assert datum["Value"] in {0.0, 1.0}


def assert_contract(entry: NodeMinute) -> None:
    datums = metric_data(entry)
    for datum in datums:
        assert_in_catalogue(datum)
    series = [(datum["MetricName"], str(datum["Dimensions"])) for datum in datums]
    assert len(series) == len(set(series))
    names = {datum["MetricName"] for datum in datums}
    assert {"AgentHeartbeat", "ReportAgeSeconds", "SpoolBytes", "DroppedSamples", "PublishRetries"} <= names
    assert sum(datum["Value"] for datum in datums if CATALOGUE[datum["MetricName"]].kind is Kind.STATE) == 1
    if entry.verdict.state is not NodeState.RUNNING:
        assert not names & WHEN_RUNNING
    if entry.verdict.state is NodeState.BLIND:
        assert not names & WORK
    event = log_event(entry)
    assert json.loads(json.dumps(event)) == event
    assert event["state"] == entry.verdict.state.value
    assert event["_aws"]["CloudWatchMetrics"] == []


@pytest.mark.parametrize("made", SHAPES)
@pytest.mark.parametrize("job", [JOB, None])
def test_every_datum_of_every_shape_is_as_the_catalogue_says(made: Json, job: Job | None) -> None:
    around = Surroundings(Contribution(jobs=() if job is None else (job,)))

    assert_contract(agents.one_minute(made, made, around=around, own=SelfFigures(cpu_percent=1.0, rss_bytes=1)))


surroundings = st.builds(
    Surroundings,
    st.builds(
        Contribution,
        jobs=st.sampled_from([(JOB,), ()]),
        draining=st.none() | st.just("spot notice"),
        compiling=st.booleans(),
        checkpoint=st.booleans(),
    ),
)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(st.sampled_from(SHAPES[1:]), max_size=3), surroundings), max_size=8))
def test_no_sequence_publishes_when_running_outside_running_or_a_zero_for_missing(
    sequence: list[tuple[list[Json], Surroundings]],
) -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)

    for index, (reports, around) in enumerate(sequence):
        entry = agents.feed(pipeline, agents.MINUTE + 60 * index, *reports, around=around)

        assert_contract(entry)
        measured = {datum["MetricName"] for datum in metric_data(entry)} & WORK
        if not any(made["neuron_runtime_data"] for made in reports):
            # Of a registered job without a process it is known that nothing ran.
            assert measured <= ({"ExecutionsCompleted"} if around.collected.jobs else set())


def test_a_minute_fits_the_series_budget() -> None:
    own = SelfFigures(cpu_percent=1.0, rss_bytes=1)
    datums = metric_data(
        agents.one_minute(samples.full_node(), around=Surroundings(Contribution(jobs=(JOB,))), own=own)
    )

    per_job = sum(len(datum["Dimensions"]) == 3 for datum in datums)
    assert per_job <= 16
    assert len(datums) - per_job <= 44
