"""What simulated workloads tell the agent: in proportion to what their script does, and nothing where it rests."""

from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from environments import loader
from fleet import metrics
from local.simulation.placement import node_id, place
from local.simulation.scenario import SCENARIOS, load
from local.simulation.script import FleetPart, Phase, PhaseKind, Script
from local.simulation.workload import TOKENS_PER_REPLY, Work, Workload
from tests.support.workload import listening
from tests.unit.local.simulation.scripts import START, phase, script

TRAINS = FleetPart(nodes=4)
SERVES = FleetPart(nodes=2, requests_per_minute=900)
# sun_path of macOS, whose temporary folders have long names, with its final zero; Linux has four bytes more.
LONGEST_SOCKET = 103
LONG_FOLDER = "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/nodes-abcdefgh"


def minutes(folder: Path, node: Script, part: FleetPart, count: int, every: float = 20) -> list[Contribution]:
    """What the agent sees in each of the first minutes; time moves ``every`` so many seconds."""
    folder.mkdir(exist_ok=True)
    with listening(folder, None) as collector:
        workload = Workload(folder / "statsd.sock", node, Work(node, part), "job-1")
        collector.collect(Request(START))
        seen = []
        for minute in range(count):
            for part_of_it in range(int(60 / every)):
                workload.show(START + 60 * minute + every * (part_of_it + 1))
            seen.append(collector.collect(Request(START + 60 * (minute + 1))))
    return seen


def tokens(seen: Contribution) -> float:
    return seen.job_metrics["job-1"][metrics.TOKENS_PER_SECOND]


def running(percent: float, minute: int = 0) -> Phase:
    return Phase(START + 60 * minute, PhaseKind.RUNNING, tensor_engine_percent=percent, core_percent=97)


def test_tokens_are_in_proportion_to_the_tensor_engines_utilization(tmp_path: Path) -> None:
    first, second, third = minutes(tmp_path, script(running(40), running(10, 1), running(20, 2)), TRAINS, 3)

    # 32 cores of 92 TFLOP/s at 40 %, and 42 GFLOP for a token of a model of 7 billion parameters.
    assert tokens(first) == pytest.approx(0.4 * 32 * 92e12 / 42e9, rel=0.01)
    assert tokens(second) == pytest.approx(tokens(first) / 4, rel=0.001)
    assert tokens(third) == pytest.approx(tokens(first) / 2, rel=0.001)
    assert first.job_metrics["job-1"][metrics.SAMPLES_PER_SECOND] == pytest.approx(tokens(first) / 4096, rel=0.05)


def test_how_often_time_moves_changes_no_token(tmp_path: Path) -> None:
    often, seldom = (minutes(tmp_path / str(every), script(), TRAINS, 3, every) for every in (5, 60))

    assert [tokens(seen) for seen in often] == pytest.approx([tokens(seen) for seen in seldom])


def test_the_loss_falls_and_is_always_finite(tmp_path: Path) -> None:
    figures = [seen.job_metrics["job-1"] for seen in minutes(tmp_path, script(), TRAINS, 30)]
    losses = [each[metrics.TRAINING_LOSS] for each in figures]

    assert losses[0] > 8 > losses[5] > losses[15] > losses[29] > 2
    assert {each[metrics.NON_FINITE_LOSS] for each in figures} == {0}


def test_every_node_of_a_job_says_the_same_loss(tmp_path: Path) -> None:
    one = script()
    other = Script(**{name: getattr(one, name) for name in one.__struct_fields__} | {"node": "i-0fedcba9876543210"})
    first, second = (minutes(tmp_path / node.node, node, TRAINS, 2)[1].job_metrics["job-1"] for node in (one, other))

    assert first[metrics.TRAINING_LOSS] == second[metrics.TRAINING_LOSS]


@pytest.mark.parametrize("part", [TRAINS, SERVES])
@pytest.mark.parametrize(
    "kind",
    [PhaseKind.NO_JOB, PhaseKind.STARTUP, PhaseKind.COMPILING, PhaseKind.HANG, PhaseKind.HARDWARE_ERROR],
)
def test_what_is_not_done_is_missing_and_not_zero(kind: PhaseKind, part: FleetPart, tmp_path: Path) -> None:
    quiet, works = minutes(tmp_path, script(phase(kind), running(42, 1)), part, 2)

    assert quiet == Contribution()
    assert tokens(works) > 0


def test_an_endpoint_answers_what_it_is_asked(tmp_path: Path) -> None:
    (seen,) = minutes(tmp_path, script(running(12), runtimes=2), SERVES, 1)
    (job,) = seen.event["workload"]["jobs"]

    assert tokens(seen) == pytest.approx(900 / 60 * TOKENS_PER_REPLY, rel=0.001)
    assert job["requests_in_flight_mean"] == pytest.approx(90, rel=0.06)
    assert job["queue_seconds_mean"] == pytest.approx(0.05, rel=0.2)
    assert metrics.TRAINING_LOSS not in seen.job_metrics["job-1"]


def test_an_endpoint_goes_on_answering_when_its_monitor_is_dead(tmp_path: Path) -> None:
    dead = Phase(START + 60, PhaseKind.MONITOR_DEATH, tensor_engine_percent=0, core_percent=0)
    before, after = minutes(tmp_path, script(running(12), dead), SERVES, 2)

    assert tokens(after) == pytest.approx(tokens(before), rel=0.001)


def test_requests_are_divided_among_the_nodes_and_only_trainers_between_nodes_have_efa() -> None:
    parts = {spec.fleet: spec.part for spec in place(load(SCENARIOS / "demo.yaml"), loader.load("local"), 0, Path())}

    assert parts["inf2-chat"] == FleetPart(1, 2, 900, 0)
    assert parts["trn1-pretrain"] == FleetPart(3, 4, None, 8)
    assert parts["trn2-frontier"] == FleetPart(1, 2, None, 16)


def test_the_socket_of_a_node_fits_a_socket_address() -> None:
    assert len(f"{LONG_FOLDER}/{node_id('local', 'trn1-pretrain', 0)}/run/statsd.sock") <= LONGEST_SOCKET
