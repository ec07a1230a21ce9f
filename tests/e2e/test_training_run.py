"""The whole training run on the embedded AWS: four nodes, a gate that holds one back, two interruptions, one bill."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cli.main import app
from fleet import metrics
from fleet.ledger import ALLOCATED, UNITS
from local.deployment import ENVIRONMENT
from local.training import bill, example, scenario
from local.training.node import Node
from local.training.run import Run
from tests.support.embedded_client import client
from tests.support.needs import needs

# What the catalogue says of a trn1.32xlarge in us-east-2, written out: the test's own sum must not come from it.
USD_PER_HOUR: Final = Decimal("21.50")
NODES: Final = 4

pytestmark = needs("the CDK command line")


def fleet_jobs(*arguments: str) -> Any:
    answer = CliRunner().invoke(app, ["jobs", *arguments, "--json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


@dataclass
class Played:
    """The run when it is over, and what was told on the way."""

    stage: scenario.Stage
    run: Run
    told: list[tuple[int, str]] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        return self.stage.nodes.all

    def minute_of(self, text: str) -> int:
        return next(minute for minute, said in self.told if text in said)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    told: list[tuple[int, str]] = []
    with scenario.deployed(tmp_path_factory.mktemp("training") / "aws", Console(quiet=True)) as stage:
        run = scenario.play(
            stage,
            lambda file: fleet_jobs("submit", str(file), "--yes"),
            lambda minute, text: told.append((minute, text)),
        )
        yield Played(stage, run, told)


def test_every_node_boots_through_the_deployed_user_data_and_the_real_bootstrap(played: Played) -> None:
    # Four, one for the node that was held back, one for each that was taken away.
    assert len(played.nodes) == NODES + 3
    for node in played.nodes:
        calls = [line.split()[0] for line in node.machine.calls()]
        # In the order of install.sh and bootstrap.sh: parameter, archive, parameter, unit, then the gate's tools.
        assert [name for name in calls if name == "aws"] == ["aws"] * 3
        assert calls.index("neuron-ls") < calls.index("fi_info") < calls.index("nccom-test")
        installed = node.machine.root / "opt/neuron-fleet/current"
        assert (installed / ".whole").exists()
        assert (installed / "agents/main.py").read_bytes() == Path("agents/main.py").read_bytes()
        journal = node.machine.systemd.journal("neuron-fleet-install.service").read_text()
        assert f"neuron-fleet bootstrap: version {installed.resolve().name} runs" in journal


def test_a_node_that_fails_its_gate_is_never_given_a_job_and_says_why(played: Played) -> None:
    (held,) = [node for node in played.nodes if node.booted.gate != "passed"]
    assert (held.booted.gate, held.booted.joins, held.has_joined, held.job_minutes) == ("failed", False, False, 0)
    assert held.machine.systemd.failed == {"ecs.service": 1}
    (event,) = [each for each in bill.events(ENVIRONMENT) if each["node"] == held.instance]
    assert event["state"] == "FAULT"
    why = "devices: 15 of 16 Neuron devices that a trn1.32xlarge has"
    assert any(why in problem for problem in event["problems"])
    assert event["gate"]["devices"] == "failed"
    values = of_fleet(metrics.HARDWARE_ERRORS.name, "Maximum", played)
    assert max(values) == 1
    # The job began when its replacement had joined, and not with it.
    assert played.minute_of("attempt 1: steps") >= played.minute_of("replaces") + 2


def of_fleet(metric: str, statistic: str, played: Played) -> list[float]:
    named = {"Environment": ENVIRONMENT, "Fleet": played.stage.fleet.name}
    answer = client("cloudwatch").get_metric_statistics(
        Namespace=metrics.NAMESPACE,
        MetricName=metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in named.items()],
        StartTime=played.run.start,
        EndTime=played.run.now,
        Period=60,
        Statistics=[statistic],
    )
    return [point[statistic] for point in answer["Datapoints"]]


def test_batch_retries_a_lost_peer_and_a_drained_main_node(played: Played) -> None:
    job = played.run.job()
    assert job["status"] == "SUCCEEDED"
    codes = [attempt["container"]["exitCode"] for attempt in job["attempts"]]
    assert codes == [75, 75, 0]
    lost = next(node for node in played.nodes if node.end == "its host failed")
    drained = next(node for node in played.nodes if node.end == "it was shut down")
    details = {index: client("batch").describe_jobs(jobs=[f"{job['jobId']}#{index}"])["jobs"][0] for index in range(4)}
    ran_on = [
        {index: each["attempts"][attempt]["container"]["containerInstanceArn"] for index, each in details.items()}
        for attempt in range(3)
    ]
    assert ran_on[0][2].endswith(lost.instance)
    assert details[2]["attempts"][0]["statusReason"] == f"Host EC2 (instance {lost.instance}) terminated."
    assert ran_on[1][0].endswith(drained.instance)
    # What was taken away is in no attempt after it, and new nodes are.
    assert not any(arn.endswith(lost.instance) for later in ran_on[1:] for arn in later.values())
    assert not any(arn.endswith(drained.instance) for arn in ran_on[2].values())
    assert [len(set(ran_on[n].values()) - set(ran_on[n - 1].values())) for n in (1, 2)] == [1, 1]


def test_training_goes_on_after_the_latest_complete_checkpoint_and_no_step_is_lost(played: Played) -> None:
    steps = played.stage.fabric.steps
    by_run = {run: [step.number for step in steps if step.run == run] for run in dict.fromkeys(s.run for s in steps)}
    first, second, third = by_run.values()
    # The lost node took what came after the last save with it, nothing more; a drained job saves before it ends.
    saved_last = first[-1] // example.SAVED_EVERY * example.SAVED_EVERY
    assert (first[0], second[0], third[0]) == (1, saved_last + 1, second[-1] + 1)
    assert second[0] <= first[-1], "the lost node was to take steps with it that are done again"
    assert third[-1] == example.STEPS
    assert all(numbers == list(range(numbers[0], numbers[-1] + 1)) for numbers in by_run.values())
    # Each rank has seen its own tokens, step by step, as if nothing had happened.
    assert steps[-1].totals == tuple(expected(rank, example.STEPS) for rank in range(NODES))
    # Also in between, where it was interrupted.
    assert steps[len(first) + len(second) - 1].totals == tuple(expected(rank, second[-1]) for rank in range(NODES))


@cache
def sums(rank: int) -> list[int]:
    """The sum of a rank's first n tokens, for every n."""
    return list(accumulate(example.shares(NODES)[rank], initial=0))


def expected(rank: int, last: int) -> int:
    """What the model of a rank has added up after its steps up to ``last``, computed without running any."""
    size, upto = example.TOKENS_A_STEP, sums(rank)
    starts = (number * size % (len(upto) - 1 - size) for number in range(last))
    return sum(upto[start + size] - upto[start] for start in starts)


def test_the_ledgers_dollars_are_node_minutes_times_price_to_the_cent(played: Played) -> None:
    booked = bill.lines(ENVIRONMENT, played.stage.fleet.name)
    minutes = sum((int(node.ended or 0) - int(node.started)) // 60 for node in played.nodes)
    assert sum(line.units for line in booked) == minutes * UNITS
    assert all(node.ended is not None for node in played.nodes)
    assert round(bill.dollars(booked), 2) == round(minutes * USD_PER_HOUR / 60, 2)

    job = [line for line in booked if line.job == played.run.job_id]
    rest = [line for line in booked if line.job is None]
    assert len(job) + len(rest) == len(booked)
    with_job = sum(node.job_minutes for node in played.nodes)
    assert sum(line.units for line in job) == with_job * UNITS
    assert round(bill.dollars(job), 2) == round(with_job * USD_PER_HOUR / 60, 2)
    assert round(bill.dollars(rest), 2) == round((minutes - with_job) * USD_PER_HOUR / 60, 2)
    assert {line.category for line in job} <= ALLOCATED
    assert {line.owner for line in booked} == {played.stage.fleet.owner}


def test_show_agrees_with_the_ledger(played: Played) -> None:
    shown = fleet_jobs("show", ENVIRONMENT, "llama-2-7b-pretraining")
    booked = [line for line in bill.lines(ENVIRONMENT, played.stage.fleet.name) if line.job == played.run.job_id]
    assert shown["status"] == "SUCCEEDED"
    assert shown["node_minutes"] * UNITS == sum(line.units for line in booked)
    assert round(Decimal(str(shown["usd_so_far"])), 2) == round(bill.dollars(booked), 2)
    # Steps that were done again are tokens that were seen again.
    done = len(played.stage.fabric.steps) * NODES * example.TOKENS_A_STEP
    assert shown["tokens_done"] == pytest.approx(done, rel=0.02)
    assert [len(node["attempts"]) for node in shown["per_node"]] == [3] * NODES


def test_nothing_is_left_when_the_job_has_ended(played: Played) -> None:
    assert played.stage.nodes.living() == []
    assert all(process.poll() is not None for node in played.nodes for process in node.machine.systemd.running.values())
    assert list(played.stage.nodes.instances()) == []
