"""A rollout as deployed, of an endpoint whose file asks for recorded requests: what a candidate reports moves it.

Everything is as in ``test_rollout``; besides, the example server runs as a task that records, and as the candidate's
task that ECS names, and both use the bucket that was deployed.
"""

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from environments.model import Environment
from fleet import naming
from fleet.rollout.facts import RolloutPlace
from fleet.rollout.record import short
from fleet.shadow import places
from local.deployment import ENVIRONMENT
from local.emulator_process import aws_environment
from tests.e2e import test_rollout as rollouts
from tests.e2e.test_rollout import DIGEST, Deployed
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.served_endpoint import served
from tests.support.shadow_task import MIN_REQUESTS, ShadowPlace, shadow_task

PATIENCE = 60.0

pytestmark = [needs("the CDK command line"), pytest.mark.soak]


def environment() -> Environment:
    content = rollouts.environment().model_dump(mode="json")
    shadow = {"min_requests": MIN_REQUESTS, "latency_ratio": None, "minutes": 1.5}
    content["fleets"][0]["endpoint"]["rollout"] |= {"shadow": shadow}
    return Environment.model_validate(content)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("shadow-rollout")
    with doctored.embedded_account(folder) as control:
        first = environment()
        doctored.deploy(first, folder)
        parameter = naming.rollout_place_parameter(ENVIRONMENT, first.fleets[0].name)
        found = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
        place = TypeAdapter(RolloutPlace).validate_json(found)
        with served(place, control, first.region, per_second=100) as endpoint:
            of = Deployed(folder, place, endpoint)
            rollouts.wait_for_targets(of)
            record(of)
            endpoint.has_traffic.set()
            yield of


def shadow_place(of: Deployed) -> ShadowPlace:
    account = rollouts.environment().account
    aws = aws_environment(client("s3").meta.endpoint_url, account, doctored.REGION)
    return ShadowPlace(aws, of.place.shadow_bucket, of.fleet, of.place.candidate.cluster)


def record(of: Deployed) -> None:
    """What the version before has answered; it writes at its end."""
    version = f"{of.place.family}:1"
    for seconds in (6, 20, 60):
        with shadow_task(shadow_place(of), of.folder, version, of.place.stable.cluster, f"stable-{seconds}") as address:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                fields = {"prompt": "a secret", "temperature": 0, "max_tokens": 4}
                body, kind = json.dumps(fields).encode(), {"Content-Type": "application/json"}
                request = urllib.request.Request(f"{address}/v1/completions", body, kind)  # noqa: S310 - the stand-in's
                urllib.request.urlopen(request, timeout=30).read()  # noqa: S310 - see above
                time.sleep(0.1)
        listed = client("s3").list_objects_v2(Bucket=of.place.shadow_bucket, Prefix=places.samples(of.fleet))
        if listed["KeyCount"]:
            return
    raise AssertionError("nothing was recorded")


def candidate_task(of: Deployed, version: str) -> str:
    """The id that ECS has given the candidate's task of ``version``."""
    ecs, where = client("ecs"), {"cluster": of.place.candidate.cluster}
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        arns = ecs.list_tasks(**where, serviceName=of.place.candidate.service)["taskArns"]
        for task in ecs.describe_tasks(**where, tasks=arns)["tasks"] if arns else ():
            if task["taskDefinitionArn"] == version:
                return str(task["taskArn"]).rpartition("/")[2]
        time.sleep(0.5)
    raise AssertionError(f"no task of {version} runs")


def roll_out(of: Deployed, image: str, *says: str) -> dict[str, Any]:
    """Start it, run the candidate's task beside, and see how it ends."""
    code, started = rollouts.fleet("start", ENVIRONMENT, of.fleet, "--image", f"{image}{DIGEST}")
    assert code == 0, started
    version = started["new_version"]
    task = candidate_task(of, version)
    with shadow_task(shadow_place(of), of.folder, short(version), of.place.candidate.cluster, task, *says):
        return rollouts.output_of(started)


def test_a_version_with_other_answers_gets_no_request(deployed: Deployed) -> None:
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out(deployed, "another", "--says", "sword")

    assert output["outcome"] == "rolled back"
    assert "answers are not as recorded, where 99 % must be" in output["reason"]
    assert output["shadow"][0]["different"] >= MIN_REQUESTS
    assert output["is_true"]
    assert deployed.served.proxy.counted.weights[seen:] == []
    assert deployed.served.proxy.counted.lost == []


def test_a_version_with_the_same_answers_takes_over(deployed: Deployed) -> None:
    rollouts.wait_for_targets(deployed)
    seen = len(deployed.served.proxy.counted.weights)
    output = roll_out(deployed, "better")

    assert output["outcome"] == "done", output
    assert output["shadow"][0]["equal"] >= MIN_REQUESTS
    assert deployed.served.proxy.counted.weights[seen:] == [(95, 5), (75, 25), (50, 50), (0, 100), (100, 0)]
    assert deployed.served.proxy.counted.lost == []
