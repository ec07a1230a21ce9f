"""Rollouts of an endpoint that SageMaker hosts, as deployed to the embedded AWS: a good version, and bad ones.

Bakes are seconds here; that is data. A version does what its image is called. The weights are those that
DescribeEndpoint shows, read by a router that nobody tells of the rollout.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from environments import loader
from environments.model import Environment
from fleet import naming
from fleet.hosting.variants import STABLE
from fleet.rollout.facts import HostedPlace, RolloutPlace
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT
from tests.e2e.test_rollout import DIGEST, fleet, output_of
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.served_endpoint import Served
from tests.support.served_hosting import hosted_endpoint

# The command line asks the environment's file which fleets serve.
FLEET = "inf2-chat"
PATIENCE = 60
REGISTRY = "000000000000.dkr.ecr.us-east-2.amazonaws.com"

pytestmark = needs("the CDK command line")


def environment(image: str = "good") -> Environment:
    """The local environment with a hosted endpoint and nothing else, with bakes of seconds."""
    quick = {
        "bake_minutes": 0.05, "min_requests": 20, "traffic_minutes": 0.5, "ready_minutes": 0.2, "promotion_minutes": 2,
        "drain_seconds": 1, "look_seconds": 2, "gates": {"alarms": []},
    }  # fmt: skip
    fleet = {
        "name": FLEET, "purpose": "inference", "owner": "chat", "instance_type": "inf2.48xlarge", "nodes": 2,
        "market": {"kind": "on-demand"},
        "endpoint": {"engine": "sagemaker", "container_image": f"{REGISTRY}/{image}{DIGEST}", "rollout": quick},
    }  # fmt: skip
    content = loader.load(ENVIRONMENT).model_dump(mode="json", exclude_unset=True)
    return Environment.model_validate({**content, "fleets": [fleet], "budgets": None})


@dataclass
class Deployed:
    folder: Path
    hosted: HostedPlace
    served: Served
    control: EmulatorControl


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("hosted")
    with doctored.embedded_account(folder) as control:
        first = environment()
        doctored.deploy(first, folder)
        parameter = naming.rollout_place_parameter(ENVIRONMENT, FLEET)
        found = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
        hosted = TypeAdapter(RolloutPlace).validate_json(found).hosted
        assert hosted is not None
        wait_until_served(hosted)
        with hosted_endpoint(hosted, control, first.region, per_second=100) as served:
            served.has_traffic.set()
            yield Deployed(folder, hosted, served, control)


def wait_until_served(hosted: HostedPlace) -> dict[str, Any]:
    for _ in range(PATIENCE):
        found: dict[str, Any] = client("sagemaker").describe_endpoint(EndpointName=hosted.endpoint)
        if found["EndpointStatus"] == "InService":
            return found
        time.sleep(1)
    raise AssertionError(found)


def roll_out(version: str) -> dict[str, Any]:
    code, started = fleet("start", ENVIRONMENT, FLEET, "--image", f"{REGISTRY}/{version}{DIGEST}")
    assert code == 0, started
    return output_of(started)


def serving(of: Deployed) -> dict[str, int]:
    """Instances by variant, as SageMaker says."""
    found = wait_until_served(of.hosted)["ProductionVariants"]
    return {each["VariantName"]: each["CurrentInstanceCount"] for each in found}


def answering(of: Deployed) -> set[tuple[str, int]]:
    """What really answers, asked of the router."""
    time.sleep(1)
    before = dict(of.served.proxy.counted.answers)
    time.sleep(1)
    return {key for key, count in of.served.proxy.counted.answers.items() if count > before.get(key, 0)}


def suspended(of: Deployed) -> bool:
    (target,) = client("application-autoscaling").describe_scalable_targets(ServiceNamespace="sagemaker")[
        "ScalableTargets"
    ]
    return any(target["SuspendedState"].values())


def test_the_first_deployment_serves_what_it_declares(deployed: Deployed) -> None:
    assert serving(deployed) == {STABLE: 2}
    assert answering(deployed) == {("good", 200)}


def test_a_good_version_goes_5_25_50_100_and_serves(deployed: Deployed) -> None:
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out("better")

    assert output["outcome"] == "done", output
    # As the router has read them from the endpoint, one after the other; at the end there is one variant.
    assert deployed.served.proxy.counted.weights[seen:] == [(95, 5), (75, 25), (50, 50), (0, 100), (100, 0)]
    assert output["serves"] == [output["new_version"]]
    assert output["is_true"]
    assert answering(deployed) == {("better", 200)}
    # Nothing of the candidate is left to be paid for, and the endpoint scales again.
    assert (serving(deployed), suspended(deployed)) == ({STABLE: 2}, False)
    assert deployed.served.proxy.counted.lost == []


def test_a_later_deployment_leaves_what_serves(deployed: Deployed) -> None:
    before = client("sagemaker").describe_endpoint(EndpointName=deployed.hosted.endpoint)
    folder = deployed.folder / "again"
    folder.mkdir()
    doctored.deploy(environment("newest"), folder)

    after = client("sagemaker").describe_endpoint(EndpointName=deployed.hosted.endpoint)
    assert (after["EndpointConfigName"], after["EndpointStatus"]) == (before["EndpointConfigName"], "InService")
    assert answering(deployed) == {("better", 200)}
    # And what it has declared is what the next rollout would take.
    declared = client("ssm").get_parameter(Name=deployed.hosted.declared)["Parameter"]["Value"]
    image = client("sagemaker").describe_model(ModelName=declared)["PrimaryContainer"]["Image"]
    assert image == f"{REGISTRY}/newest{DIGEST}"


def test_a_bad_version_goes_back_and_loses_nothing(deployed: Deployed) -> None:
    # CloudWatch counts by the minute: answers of the good version in this one would be taken for its own.
    time.sleep(61 - time.time() % 60)
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out("errors")

    assert output["outcome"] == "rolled back", output
    assert "answers were 5xx" in output["reason"]
    assert output["is_true"]
    assert (0, 100) not in deployed.served.proxy.counted.weights[seen:]
    assert answering(deployed) == {("better", 200)}
    assert (serving(deployed), suspended(deployed)) == ({STABLE: 2}, False)
    assert deployed.served.proxy.counted.lost == []


def test_a_version_that_never_answers_a_ping_gets_no_request(deployed: Deployed) -> None:
    seen = len(deployed.served.proxy.counted.weights)
    error = {"code": "ModelError", "message": "no answer"}
    match = {"Image": f"{REGISTRY}/sick{DIGEST}"}
    deployed.control.set_faults([{"call": "sagemaker:UpdateEndpoint", "match": match, "error": error}])
    output = roll_out("sick")
    deployed.control.set_faults([])

    assert (output["outcome"], output["is_true"]) == ("rolled back", True), output
    assert "did not pass the ping health check" in output["reason"]
    assert deployed.served.proxy.counted.weights[seen:] == []
    assert answering(deployed) == {("better", 200)}
    assert (serving(deployed), suspended(deployed)) == ({STABLE: 2}, False)
    assert deployed.served.proxy.counted.lost == []
