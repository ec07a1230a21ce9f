"""What a batch is over OTLP: valid by the protocol's own definition, complete, and cut to the endpoint's limits."""

from dataclasses import replace

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.batch import Batch
from agents.sinks.otlp_requests import requests
from agents.sinks.series.levels import READ_BY_RULES, Level
from fleet import metrics
from planning.month.cloudwatch import OTLP_BYTES_OF_A_POINT, OTLP_POINTS
from tests.support import agents, batches, samples
from tests.support.otlp import billed_bytes, count, decoded, labels, parsed

FULL = batches.one(samples.full_node())
SMALL = Batch(agents.MINUTE, 1, "s", (), {"environment": "test", "fleet": "pretrain", "node": "i-1"})


@pytest.mark.parametrize("shape", batches.SHAPES)
def test_every_shape_is_valid_otlp(shape: str) -> None:
    points = decoded(*requests(batches.one(batches.SHAPES[shape])))

    assert points["neuron_fleet_agent_last_minute_timestamp_seconds"][0].as_double == agents.MINUTE + 60


def test_a_core_is_a_gauge_with_the_node_and_the_core_on_the_point() -> None:
    points = decoded(*requests(FULL))["neuron_fleet_core_utilization_ratio"]

    assert len(points) == 32
    assert labels(points[3]) == {
        "environment": "test", "fleet": "pretrain", "node": "i-1", "neuron_core": "3", "neuron_device": "1"
    }  # fmt: skip
    assert points[3].as_double == 0.5
    assert points[3].time_unix_nano == (agents.MINUTE + 60) * 10**9


def test_a_count_is_a_gauge_of_the_minute_so_that_order_and_repetition_do_not_matter() -> None:
    points = decoded(*requests(FULL))

    assert points["neuron_fleet_node_executions_completed_per_minute"][0].as_double == 320
    assert points["neuron_fleet_job_executions_completed_per_minute"][0].as_double == 320
    assert list(requests(FULL)) == list(requests(FULL))
    assert not [name for name in points if name.endswith(("_total", "_info"))]


def test_units_are_opentelemetry_s() -> None:
    request = parsed(next(requests(FULL)))
    units = {each.name: each.unit for each in request.resource_metrics[0].scope_metrics[0].metrics}

    assert units["neuron_fleet_core_utilization_ratio"] == "1"
    assert units["neuron_fleet_device_memory_used_bytes"] == "By"
    assert units["neuron_fleet_agent_report_age_seconds"] == "s"
    assert units["neuron_fleet_core_flops_per_second"] == "{FLOP}/s"
    assert units["neuron_fleet_node_state"] == ""


def test_a_node_of_128_cores_and_8_jobs_is_one_request() -> None:
    body = b"".join(requests(large_node()))

    # 128 cores x 4, 16 devices x 6, 8 states, and the node, its jobs and the agent; the limit is 1,000.
    assert 128 * 4 + 16 * 6 + 8 < count(body) < 1000
    assert len(body) < 1_000_000


def large_node() -> Batch:
    runtimes = [
        samples.RuntimeSpec(7000 + core, "1", {core: 50.0}, {core: 10e12}, {core: samples.GIB}, 10, p99=0.04)
        for core in range(128)
    ]
    made = samples.report(runtimes, devices=16, cores_per_device=8, instance_type="trn2.48xlarge")
    tokens = {f"job-{index}": {metrics.TOKENS_PER_SECOND: 5.0, metrics.TRAINING_LOSS: 1.5} for index in range(8)}
    return batches.one(made, around=Contribution(jobs=(batches.JOB,), job_metrics=tokens))


def test_more_points_than_a_request_may_have_are_several_and_none_is_lost() -> None:
    whole = decoded(*requests(FULL))
    bodies = list(requests(FULL, points=100))

    assert [count(body) for body in bodies[:-1]] == [100] * (len(bodies) - 1)
    parts = decoded(*bodies)
    assert {name: len(points) for name, points in parts.items()} == {name: len(p) for name, p in whole.items()}


def test_a_request_that_is_too_large_is_halved_until_it_fits() -> None:
    whole = decoded(*requests(FULL))
    bodies = list(requests(FULL, size=20_000))

    assert len(bodies) > 1
    assert max(map(len, bodies)) <= 20_000
    assert sum(map(count, bodies)) == sum(map(len, whole.values()))


def test_a_single_point_goes_out_whatever_its_size() -> None:
    assert [count(body) for body in requests(SMALL, size=1)] == [1]


def on_efa() -> Batch:
    """A node of a training fleet with names as long as they are in AWS, on EFA."""
    job = Job("0f3b7a52-7c1e-4d2b-9a53-2b8f6c1d0e9a", "llama", "research", registered=True)
    efa = {metrics.EFA_TRANSMIT_BYTES: 1e9, metrics.EFA_RETRANSMITS: 3.0, metrics.EFA_FALLBACK_TO_TCP: 0.0}
    made = batches.one(samples.full_node(), around=Contribution(jobs=(job,), metrics=efa))
    where = {"environment": "prod", "fleet": "trn1-pretrain", "node": "i-0123456789abcdef0"}
    return replace(made, log_event={**made.log_event, **where})


@pytest.mark.parametrize("level", Level)
def test_a_node_sends_as_many_bytes_as_the_plan_of_a_month_counts(level: Level) -> None:
    bodies = list(requests(on_efa(), level=level))
    of_node, of_core = OTLP_POINTS[level]
    assert of_node.low <= sum(map(count, bodies)) - 32 * of_core <= of_node.high
    assert billed_bytes(*bodies) == pytest.approx(sum(map(count, bodies)) * OTLP_BYTES_OF_A_POINT, rel=0.07)


def test_for_rules_a_node_sends_what_they_read_and_no_count_of_nothing() -> None:
    points = decoded(*requests(on_efa(), level=Level.RULES))
    assert points.keys() <= READ_BY_RULES
    assert "neuron_fleet_node_hardware_errors_per_minute" not in points
    assert points["neuron_fleet_efa_fallback_to_tcp_per_minute"][0].as_double == 0
    states = {labels(point)["neuron_fleet_node_state"]: point.as_double for point in points["neuron_fleet_node_state"]}
    assert states == {"BLIND": 0, "COMPILING": 0, "NO_JOB": 0, "RUNNING": 1}


def test_for_nodes_no_core_and_no_device_is_sent() -> None:
    points = decoded(*requests(on_efa(), level=Level.NODES))
    assert not [name for name in points if name.startswith(("neuron_fleet_core_", "neuron_fleet_device_"))]
    assert "neuron_fleet_job_executions_completed_per_minute" in points
