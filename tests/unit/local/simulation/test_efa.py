"""Simulated EFA devices, as the agent's collector sees them: they carry what the job's steps exchange."""

from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.efa.collector import EfaCollector
from fleet import metrics
from fleet.alarms.health import RETRANSMITS_IGNORED
from local.simulation.machine import Machine
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.script import FleetPart, JobRegistration, Phase, PhaseKind, Script
from tests.unit.local.simulation.scripts import START, phase, script

TRAINS = FleetPart(nodes=4, efa_devices=8)


def minutes(folder: Path, node: Script, part: FleetPart, count: int) -> list[Contribution]:
    """What the agent sees in each of the first minutes, the job's processes included."""
    machine = Machine(folder, node, JobRegistration("job-1", "a job", "an owner"), part)
    collector = EfaCollector(machine.sysfs, machine.proc)
    seen = []
    for minute in range(count + 1):
        for now in (START + 60 * minute - 20, START + 60 * minute):
            machine.show(now)
        seen.append(collector.collect(Request(START + 60 * minute, (FIRST_RUNTIME_PID,))))
    return seen[1:]


def test_devices_carry_the_gradients_of_the_steps(tmp_path: Path) -> None:
    stalls = Phase(START + 120, PhaseKind.DATA_STALL, tensor_engine_percent=21, core_percent=60)
    first, second, third = minutes(tmp_path, script(phase(PhaseKind.RUNNING), stalls), TRAINS, 3)

    # 29,440 tokens a second are 6.74 steps a minute of 2 x 3/4 of 14 GB each.
    assert first.metrics[metrics.EFA_TRANSMIT_BYTES] == pytest.approx(141.5e9, rel=0.001)
    assert first.metrics[metrics.EFA_RECEIVE_BYTES] == first.metrics[metrics.EFA_TRANSMIT_BYTES]
    assert second.metrics[metrics.EFA_TRANSMIT_BYTES] == pytest.approx(first.metrics[metrics.EFA_TRANSMIT_BYTES])
    assert third.metrics[metrics.EFA_TRANSMIT_BYTES] == pytest.approx(first.metrics[metrics.EFA_TRANSMIT_BYTES] / 2)
    assert len(first.event["efa_devices"]["names"]) == 8


def test_a_healthy_job_sends_few_packets_again_and_talks_over_no_tcp(tmp_path: Path) -> None:
    seen = minutes(tmp_path, script(), TRAINS, 3)

    assert all(0 < each.metrics[metrics.EFA_RETRANSMITS] < RETRANSMITS_IGNORED for each in seen)
    assert [each.metrics[metrics.EFA_FALLBACK_TO_TCP] for each in seen] == [0, 0, 0]


def test_devices_that_carry_nothing_say_so_and_nobody_knows_of_tcp(tmp_path: Path) -> None:
    (seen,) = minutes(tmp_path, script(phase(PhaseKind.STARTUP)), TRAINS, 1)

    assert seen.metrics[metrics.EFA_RECEIVE_BYTES] == 0
    assert metrics.EFA_FALLBACK_TO_TCP not in seen.metrics


@pytest.mark.parametrize("part", [FleetPart(nodes=2), FleetPart(nodes=2, requests_per_minute=900)])
def test_a_node_without_efa_has_no_figure_of_it(part: FleetPart, tmp_path: Path) -> None:
    assert minutes(tmp_path, script(), part, 2) == [Contribution(), Contribution()]
