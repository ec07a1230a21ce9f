"""The agent's output against the catalogue: what alarms and dashboards look at is what is sent, and nothing else."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from fleet import metrics
from fleet.metrics import AGENT_CATALOGUE, CATALOGUE, Kind
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.samples import GIB, Json, RuntimeSpec

JOB = Job("job-1", "llama", "research", registered=True)
# Half of the full node's processes, some of the others', and one that is on no node.
SHARING = (
    Job("job-1", "llama", "research", registered=True, pids=(900, 41210, *range(7000, 7016))),
    Job("job-2", "mixtral", "", registered=False, pids=(1, 901)),
    Job("job-3", "gone", "", registered=True, pids=()),
)
WHEN_RUNNING = {"TensorEngineUtilizationWhenRunning", "NeuronCoreUtilizationWhenRunning"}
WORK = {name for name in AGENT_CATALOGUE if "Utilization" in name or name.startswith(("Hbm", "Achieved", "Execution"))}
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


def assert_in_catalogue(datum: Mapping[str, Any]) -> None:
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
@pytest.mark.parametrize("jobs", [(JOB,), (), SHARING])
def test_every_datum_of_every_shape_is_as_the_catalogue_says(made: Json, jobs: tuple[Job, ...]) -> None:
    around = Surroundings(Contribution(jobs=jobs))

    assert_contract(agents.one_minute(made, made, around=around, own=SelfFigures(cpu_percent=1.0, rss_bytes=1)))


surroundings = st.builds(
    Surroundings,
    st.builds(
        Contribution,
        jobs=st.sampled_from([(JOB,), (), None, SHARING]),
        job_metrics=st.sampled_from([{}, {"": {metrics.TRAINING_LOSS: 2.5}}, {"job-2": {metrics.NON_FINITE_LOSS: 1}}]),
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
    jobs: tuple[Job, ...] = ()

    for index, (reports, around) in enumerate(sequence):
        jobs = jobs if around.collected.jobs is None else around.collected.jobs
        entry = agents.feed(pipeline, agents.MINUTE + 60 * index, *reports, around=around)

        assert_contract(entry)
        measured = {datum["MetricName"] for datum in metric_data(entry)} & WORK
        if not any(made["neuron_runtime_data"] for made in reports):
            # Of a registered job without a process it is known that nothing ran.
            assert measured <= ({"ExecutionsCompleted"} if jobs else set())


def full_minute(node: Json, jobs: int, **changes: Any) -> NodeMinute:
    """A minute in which every metric of the catalogue is published, with the node's processes in ``jobs`` jobs."""
    pids = [runtime["pid"] for runtime in node["neuron_runtime_data"]]
    shared = tuple(
        Job(
            f"4e6f2d3a-1111-4222-8333-44445555{index:04d}",
            f"llama-70b-{index}",
            "research",
            False,
            pids=(*pids[index::jobs],),
        )
        for index in range(jobs)
    )
    around = Contribution(
        metrics={
            spec: 3.0 for spec in AGENT_CATALOGUE.values() if spec.per_fleet and not spec.per_job and spec not in OWN
        },
        job_metrics={job.job_id: {spec: 2.5 for spec in CATALOGUE.values() if spec.from_workload} for job in shared},
        jobs=shared,
    )
    own = SelfFigures(cpu_percent=1.0, rss_bytes=1)
    return agents.one_minute(*[node] * 12, around=Surroundings(around), own=own, **changes)


OWN = {
    *(spec for spec in AGENT_CATALOGUE.values() if spec.kind is Kind.STATE),
    *(metrics.HARDWARE_ERRORS, metrics.CORES_TOTAL, metrics.CORES_ALLOCATED, metrics.AGENT_HEARTBEAT),
    *(metrics.REPORT_AGE_SECONDS, metrics.SPOOL_BYTES, metrics.DROPPED_SAMPLES, metrics.PUBLISH_RETRIES),
    *(metrics.AGENT_CPU_PERCENT, metrics.AGENT_RSS_BYTES),
}


def trn2_node(processes: int) -> Json:
    """16 devices and 128 cores, one process for each share of the cores; figures as long as real ones."""
    cores = 128 // processes
    specs = [
        RuntimeSpec(
            41_000 + index,
            f"rank{index}",
            {core: 40 + core * 0.3171 for core in range(index * cores, (index + 1) * cores)},
            {core: 31e12 + core * 123_456_789_011 for core in range(index * cores, (index + 1) * cores)},
            {core: 9 * GIB + core * 12_345_677 for core in range(index * cores, (index + 1) * cores)},
            120,
            p99=0.0388,
        )
        for index in range(processes)
    ]
    made = samples.report(specs, cores_per_device=8, instance_type="trn2.48xlarge")
    made["neuron_hardware_info"].update(neuroncore_version="v3", neuron_device_memory_size=96 * GIB)
    return made


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_a_minute_fits_the_series_budget(jobs: int) -> None:
    datums = metric_data(full_minute(samples.full_node(), jobs))

    of_jobs = Counter(datum["Dimensions"][2]["Value"] for datum in datums if len(datum["Dimensions"]) == 3)
    assert {datum["MetricName"] for datum in datums} == set(AGENT_CATALOGUE)
    assert len(of_jobs) == jobs
    assert set(of_jobs.values()) == {16}
    # No fleet both trains and serves.
    for others in ("training", "inference"):
        without = {spec.name for spec in AGENT_CATALOGUE.values() if spec.only_of == others}
        assert sum(len(d["Dimensions"]) == 2 and d["MetricName"] not in without for d in datums) <= 44


def test_the_largest_node_fits_one_request_and_a_small_log_event() -> None:
    entry = full_minute(trn2_node(128), 4)

    datums = metric_data(entry)
    request = len(json.dumps(datums, separators=(",", ":")))
    event = len(json.dumps(log_event(entry), separators=(",", ":")))

    # 46 series of the fleet and 16 of each job. PutMetricData takes 1,000 datums and 1 MB, CloudWatch Logs an event of
    # 1 MB with its 26 bytes: 32,515 and 13,105 bytes are far from it.
    assert len(datums) == 46 + 4 * 16
    assert request < 40_000
    assert event < 15_000


def test_a_node_of_32_cores_and_one_job_keeps_to_the_cost_models_log_event() -> None:
    entry = full_minute(samples.full_node(), 1)

    event = len(json.dumps(log_event(entry), separators=(",", ":")))

    # 5,148 bytes; what other collectors add comes on top.
    assert event < 5_500
