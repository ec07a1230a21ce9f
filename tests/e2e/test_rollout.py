"""Rollouts in the embedded AWS, as deployed: its interpreter of state machines, its listener, and a client that counts.

Bakes are seconds here; that is data. A version does what its image is called.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.rollout.facts import RolloutPlace
from local.deployment import ENVIRONMENT
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.served_endpoint import Served, served

PATIENCE = 180.0
DIGEST = "@sha256:" + "0" * 64

pytestmark = needs("the CDK command line")


def environment(image: str = "good:1") -> Environment:
    """The local endpoint and nothing else, with bakes of seconds."""
    local = loader.load(ENVIRONMENT)
    (fleet,) = (each for each in local.fleets if isinstance(each, InferenceFleet))
    content = local.model_dump(mode="json")
    quick = {
        "bake_minutes": 0.05, "min_requests": 20, "traffic_minutes": 0.3, "ready_minutes": 0.4,
        "promotion_minutes": 1, "drain_seconds": 2, "look_seconds": 2,
        # Of an endpoint that is a minute old, which had no targets the minute before, the others go off by themselves.
        "gates": {"alarms": ["HardwareFault"]},
    }  # fmt: skip
    one = fleet.model_dump(mode="json")
    one["endpoint"] |= {"container_image": image, "rollout": quick}
    return Environment.model_validate({**content, "fleets": [one]})


@dataclass
class Deployed:
    folder: Path
    place: RolloutPlace
    served: Served

    @property
    def fleet(self) -> str:
        return self.place.fleet


@contextmanager
def _deployed(folder: Path) -> Iterator[Deployed]:
    with doctored.embedded_account(folder) as control:
        first = environment()
        doctored.deploy(first, folder)
        parameter = naming.rollout_place_parameter(ENVIRONMENT, first.fleets[0].name)
        found = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
        place = TypeAdapter(RolloutPlace).validate_json(found)
        with served(place, control, first.region, per_second=100) as endpoint:
            yield Deployed(folder, place, endpoint)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with _deployed(tmp_path_factory.mktemp("rollout")) as found:
        yield found


@pytest.fixture
def deployed(account: Deployed) -> Deployed:
    """The endpoint, with whatever serves it by now and all its targets, and a client that asks."""
    wait_for_targets(account)
    account.served.has_traffic.set()
    return account


def fleet(*arguments: str) -> tuple[int, dict[str, Any]]:
    answer = CliRunner().invoke(app, ["rollout", *arguments, "--json"])
    return answer.exit_code, json.loads(answer.stdout) if answer.stdout.startswith("{") else {"said": answer.output}


def roll_out(of: Deployed, version: str) -> dict[str, Any]:
    """Start it as a person does; the answer is the output of its execution."""
    code, started = fleet("start", ENVIRONMENT, of.fleet, "--image", f"{version}{DIGEST}")
    assert code == 0, started
    return output_of(started)


def rollout_machine() -> str:
    machines = client("stepfunctions").list_state_machines()["stateMachines"]
    (arn,) = [each["stateMachineArn"] for each in machines if each["name"] == naming.rollout_machine(ENVIRONMENT)]
    return str(arn)


def execution_of(started: dict[str, Any]) -> str:
    name = f"{started['fleet']}-{started['rollout_id']}-{started['fence']}"
    return f"{rollout_machine().replace(':stateMachine:', ':execution:')}:{name}"


def output_of(started: dict[str, Any]) -> dict[str, Any]:
    for _ in range(int(PATIENCE)):
        found = client("stepfunctions").describe_execution(executionArn=execution_of(started))
        if found["status"] != "RUNNING":
            assert found["status"] == "SUCCEEDED", found
            output: dict[str, Any] = json.loads(found["output"])
            return output
        time.sleep(1)
    raise AssertionError(f"it has not ended: {fleet('status', ENVIRONMENT, str(started['fleet']))}")


def wait_for_targets(of: Deployed) -> None:
    for _ in range(40):
        if of.served.proxy.has_targets:
            return
        time.sleep(0.5)
    raise AssertionError("the stable side has no targets")


def weights(of: Deployed) -> tuple[int, int]:
    (rule,) = client("elbv2").describe_rules(RuleArns=[of.place.rule])["Rules"]
    found = {each["TargetGroupArn"]: each["Weight"] for each in rule["Actions"][0]["ForwardConfig"]["TargetGroups"]}
    return found[of.place.stable.target_group], found[of.place.candidate.target_group]


def test_the_deployed_definition_is_one_that_step_functions_takes(deployed: Deployed) -> None:
    states = client("stepfunctions")
    definition = states.describe_state_machine(stateMachineArn=rollout_machine())["definition"]

    assert "${" not in definition
    found = states.validate_state_machine_definition(definition=definition)
    assert (found["result"], found["diagnostics"]) == ("OK", [])


def test_a_version_without_requests_is_held_and_then_goes_back(deployed: Deployed) -> None:
    deployed.served.has_traffic.clear()
    output = roll_out(deployed, "idle")

    assert (output["outcome"], weights(deployed)) == ("rolled back", (100, 0))
    assert "0 of 20 requests" in output["reason"]
    assert output["is_true"]


def test_a_version_that_never_is_healthy_gets_no_request(deployed: Deployed) -> None:
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out(deployed, "sick")

    assert (output["outcome"], weights(deployed)) == ("rolled back", (100, 0))
    assert "0 of 1 targets of the candidate are healthy" in output["reason"]
    assert deployed.served.proxy.counted.weights[seen:] == []
    _nothing_is_lost(deployed)


def test_a_good_version_goes_5_25_50_100_and_serves(deployed: Deployed) -> None:
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out(deployed, "better")

    assert output["outcome"] == "done", output["reason"]
    # As the proxy has read them from the listener, one after the other.
    assert deployed.served.proxy.counted.weights[seen:] == [(95, 5), (75, 25), (50, 50), (0, 100), (100, 0)]
    assert output["serves"] == [output["new_version"]]
    assert output["is_true"]
    assert _answering(deployed) == {("better", 200)}
    _nothing_is_lost(deployed)


def test_a_later_deployment_leaves_what_serves(deployed: Deployed) -> None:
    before, answering = _service(deployed), _answering(deployed)
    folder = deployed.folder / "again"
    folder.mkdir()
    doctored.deploy(environment("newest:2"), folder)

    assert _service(deployed) == before
    assert weights(deployed) == (100, 0)
    assert _answering(deployed) == answering
    # And what it has deployed is what the next rollout would take.
    newest = client("ecs").describe_task_definition(taskDefinition=deployed.place.family)["taskDefinition"]
    assert newest["containerDefinitions"][0]["image"] == "newest:2"


@pytest.mark.parametrize(("version", "reason"), [("errors", "answers were 5xx"), ("slow", "3.0 times as much")])
def test_a_bad_version_goes_back_and_loses_nothing(deployed: Deployed, version: str, reason: str) -> None:
    answering, seen = _answering(deployed), len(deployed.served.proxy.counted.weights)
    output = roll_out(deployed, version)

    assert (output["outcome"], weights(deployed)) == ("rolled back", (100, 0))
    assert reason in output["reason"]
    assert output["is_true"]
    assert (0, 100) not in deployed.served.proxy.counted.weights[seen:]
    assert _answering(deployed) == answering
    _nothing_is_lost(deployed)


def test_an_abort_ends_it_and_a_second_one_is_refused(deployed: Deployed) -> None:
    code, started = fleet("start", ENVIRONMENT, deployed.fleet, "--image", f"another{DIGEST}")
    assert code == 0
    assert "one at a time" in fleet("start", ENVIRONMENT, deployed.fleet, "--image", f"other{DIGEST}")[1]["said"]
    paused = fleet("pause", ENVIRONMENT, deployed.fleet)[1]
    assert paused.get("is_paused"), paused
    assert fleet("abort", ENVIRONMENT, deployed.fleet)[0] == 0
    output = output_of(started)

    assert (output["outcome"], weights(deployed)) == ("rolled back", (100, 0))
    assert "aborted by" in output["reason"]
    assert fleet("status", ENVIRONMENT, deployed.fleet)[0] == 3
    _nothing_is_lost(deployed)


def test_an_abort_after_a_stopped_execution_goes_back_at_once(deployed: Deployed) -> None:
    code, started = fleet("start", ENVIRONMENT, deployed.fleet, "--image", f"lost{DIGEST}")
    assert code == 0
    client("stepfunctions").stop_execution(executionArn=execution_of(started))
    assert not fleet("status", ENVIRONMENT, deployed.fleet)[1]["is_driven"]
    aborted = fleet("abort", ENVIRONMENT, deployed.fleet)[1]
    output = output_of(aborted)

    assert aborted["fence"] == started["fence"] + 1
    assert (output["outcome"], output["is_true"], weights(deployed)) == ("rolled back", True, (100, 0))
    _nothing_is_lost(deployed)


def _service(of: Deployed) -> str:
    found = client("ecs").describe_services(cluster=of.place.stable.cluster, services=[of.place.stable.service])
    return str(found["services"][0]["taskDefinition"])


def _answering(of: Deployed) -> set[tuple[str, int]]:
    """Versions and statuses that really answer, asked of the targets and not of AWS."""
    wait_for_targets(of)
    before = dict(of.served.proxy.counted.answers)
    time.sleep(1)
    return {key for key, count in of.served.proxy.counted.answers.items() if count > before.get(key, 0)}


def _nothing_is_lost(of: Deployed) -> None:
    counted = of.served.proxy.counted
    assert counted.lost == []
    assert sum(counted.answers.values()) > 0
