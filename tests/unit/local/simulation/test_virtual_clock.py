"""The production agent in virtual time: what it publishes depends on the script alone."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import agents.main
from agents.config import AgentConfig
from agents.minute.batch import Batch
from local.simulation.machine import Machine
from local.simulation.monitor_link import SOCKET_VARIABLE, MonitorDoor
from local.simulation.script import JobRegistration, PhaseKind, Script
from local.simulation.virtual_clock import VirtualClock
from tests.support.sinks import RecordingSink
from tests.unit.local.simulation.scripts import START, phase, script

JOB = JobRegistration("job-1", "a job", "an owner")


def run_agent(node: Script, directory: Path, minutes: int) -> list[Batch]:
    """The batches of the first whole minutes; the horizon moves by a minute at a time."""
    machine = Machine(directory, node, JOB)
    sink = RecordingSink()
    stop = threading.Event()
    horizons = iter([START + 60 * minute + 10 for minute in range(1, minutes + 1)])

    def next_horizon(now: float) -> float | None:
        horizon = next(horizons, None)
        if horizon is None:
            stop.set()
        return horizon

    config = AgentConfig(
        environment="local",
        fleet="trn1-pretrain",
        owner="an owner",
        region="us-east-2",
        purpose="training",
        node=node.node,
        period_seconds=20,
        neuron_monitor=str(machine.neuron_monitor),
        run_directory=str(machine.run_directory),
        spool_directory=str(machine.spool_directory),
        proc=str(machine.proc),
        sysfs=str(machine.sysfs),
        kernel_log=str(machine.kernel_log),
        compile_cache=str(machine.compile_cache),
        statsd_port=None,
        log_group="nodes",
    )
    with (
        MonitorDoor(machine.monitor_socket, node) as door,
        patch.dict(os.environ, {SOCKET_VARIABLE: str(machine.monitor_socket)}),
    ):
        agents.main.run(config, VirtualClock(START, door, next_horizon, machine.show), stop, (sink,), lockstep=True)
    return sink.batches[:minutes]


def without_own_costs(batch: Batch) -> dict[str, Any]:
    """The log event but for what the agent and its child cost the real machine."""
    return {name: value for name, value in batch.log_event.items() if name not in {"collectors", "neuron_monitor"}}


def states(batches: Sequence[Batch]) -> list[str]:
    return [str(batch.log_event["state"]) for batch in batches]


def test_a_running_node_publishes_one_batch_a_minute_with_the_scripts_figures(tmp_path: Path) -> None:
    batches = run_agent(script(), tmp_path, 3)

    assert [batch.minute for batch in batches] == [START, START + 60, START + 120]
    assert states(batches) == ["RUNNING"] * 3
    for batch in batches:
        assert batch.log_event["job"] == "job-1"
        assert batch.log_event["tensor_engine_utilization"] == pytest.approx(42, abs=0.5)


def test_what_the_workload_reports_is_published_with_its_minute(tmp_path: Path) -> None:
    shown = run_agent(script(phase(PhaseKind.RUNNING), phase(PhaseKind.IDLE, 3)), tmp_path, 4)
    names = [{datum["MetricName"] for datum in batch.metric_data} for batch in shown]

    # The first minute has no rates: nobody knows how much of it was counted.
    assert ["TokensPerSecond" in each for each in names] == [False, True, True, False]
    assert ["TrainingLoss" in each for each in names] == [True, True, True, False]


def test_two_runs_publish_the_same(tmp_path: Path) -> None:
    first, second = (run_agent(script(), tmp_path / name, 2) for name in ("a", "b"))

    assert [without_own_costs(batch) for batch in first] == [without_own_costs(batch) for batch in second]


def test_each_phase_shows_as_the_state_it_is(tmp_path: Path) -> None:
    node = script(
        phase(PhaseKind.NO_JOB),
        phase(PhaseKind.STARTUP, 1),
        phase(PhaseKind.COMPILING, 2),
        phase(PhaseKind.RUNNING, 4),
        phase(PhaseKind.CHECKPOINT, 5),
        phase(PhaseKind.HARDWARE_ERROR, 6),
    )

    assert states(run_agent(node, tmp_path, 7)) == [
        "NO_JOB",
        "STARTUP",
        "COMPILING",
        "COMPILING",
        "RUNNING",
        "CHECKPOINT",
        "FAULT",
    ]


@pytest.mark.parametrize("kind", [PhaseKind.MONITOR_DEATH, PhaseKind.MONITOR_HANG, PhaseKind.MONITOR_GARBAGE])
def test_a_node_whose_monitor_is_lost_becomes_blind_and_keeps_its_heartbeat(kind: PhaseKind, tmp_path: Path) -> None:
    batches = run_agent(script(phase(PhaseKind.RUNNING), phase(kind, 2)), tmp_path, 5)

    assert states(batches)[:2] == ["RUNNING", "RUNNING"]
    assert states(batches)[-1] == "BLIND"
    assert all(any(datum["MetricName"] == "AgentHeartbeat" for datum in batch.metric_data) for batch in batches)


def test_a_monitor_that_hangs_is_killed_and_a_new_one_reports(tmp_path: Path) -> None:
    node = script(phase(PhaseKind.RUNNING), phase(PhaseKind.MONITOR_HANG, 2), phase(PhaseKind.RUNNING, 5))

    assert states(run_agent(node, tmp_path, 8))[-1] == "RUNNING"
