"""A pool in the embedded AWS, with the controller's real adapters: launch, interruption, replacement, resume, end."""

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

import pytest
from pydantic import TypeAdapter

from fleet import naming
from fleet.pool.job import Order, Phase, PoolJob, submitted
from lambdas.pool import adapters, service
from lambdas.pool.wakes import wake
from local.emulator_process import aws_environment, pointed_at
from tests.support.pool_world import PLACE
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

CLUSTER = "neuron-fleet-staging-trn1-spot"
JOB = "11111111-2222-4333-8444-555555555555"
_JOB = TypeAdapter(PoolJob)


class Deployment:
    """One pool, its table, and one look of the controller at it after the other, a minute apart."""

    def __init__(self, account: Emulator) -> None:
        self.account = account
        self.ids = deploy(account, "pool", _resources())
        (definition,) = account.client("ecs").list_task_definitions()["taskDefinitionArns"]
        self.place = replace(PLACE, group=self.ids["Group"], cluster=CLUSTER, definitions={"trn1.32xlarge": definition})
        self.aws = adapters.dependencies(
            adapters.Settings(ENVIRONMENT="staging", FLEETS='["trn1-spot"]', TABLE=self.ids["Jobs"])
        )
        self.now = datetime.now(UTC)

    def look(self, minutes: int = 1) -> None:
        for _ in range(minutes):
            self.now += timedelta(minutes=1)
            (seen,) = service.look(self.aws, [self.place], self.now)
            assert seen.problems == ()

    def job(self) -> PoolJob:
        return next(each for each in self.aws.jobs.read("trn1-spot").jobs if each.order.job_id == JOB)

    def until(self, phase: Phase, attempt: int = 1) -> PoolJob:
        for _ in range(10):
            found = self.job()
            if found.phase is phase and len(found.attempts) >= attempt:
                return found
            self.look()
        raise AssertionError(f"{self.job()}")

    def submit(self) -> None:
        """As the command line does."""
        order = Order(
            job_id=JOB, name="llama-1", job="llama", fleet="trn1-spot", owner="team", nodes=2, command=("train",),
            variables=(("NEURON_FLEET_JOB", "llama"),), created_at=self.now, timeout_seconds=3600, attempts=3,
        )  # fmt: skip
        item = {
            "fleet": {"S": "trn1-spot"},
            "item": {"S": f"job/{JOB}"},
            "body": {"S": _JOB.dump_json(submitted(order)).decode()},
        }
        self.account.client("dynamodb").put_item(TableName=self.ids["Jobs"], Item=item)

    def exit(self, task: str, code: int) -> None:
        """As the ECS agent of its node says it."""
        containers = [{"containerName": "training", "exitCode": code, "status": "STOPPED"}]
        self.account.client("ecs").submit_task_state_change(
            cluster=CLUSTER, task=task, status="STOPPED", containers=containers
        )

    def instances(self) -> list[str]:
        (group,) = self.account.client("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[self.place.group]
        )["AutoScalingGroups"]
        return [each["InstanceId"] for each in group["Instances"]]


def _resources() -> dict[str, Any]:
    # As the launch templates have it: parts of which each is encoded once more.
    message = MIMEMultipart()
    message.attach(
        MIMEText(f"#!/bin/bash\necho ECS_CLUSTER={CLUSTER} >> /etc/ecs/ecs.config", "x-shellscript", "utf-8")
    )
    joins = base64.b64encode(message.as_bytes()).decode()
    launch = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    one_type = {"LaunchTemplateSpecification": launch, "Overrides": [{"InstanceType": "trn1.32xlarge"}]}
    spot = {"OnDemandPercentageAboveBaseCapacity": 0}
    policy = {"LaunchTemplate": one_type, "InstancesDistribution": spot}
    container = {"Name": "training", "Image": "training:staging", "Memory": 1024}
    keys = (("fleet", "HASH"), ("item", "RANGE"))
    resources = {
        "Cluster": ("ECS::Cluster", {"ClusterName": CLUSTER}),
        "Template": (
            "EC2::LaunchTemplate",
            {"LaunchTemplateData": {"InstanceType": "trn1.32xlarge", "UserData": joins}},
        ),
        "Group": ("AutoScaling::AutoScalingGroup", {"MinSize": "0", "MaxSize": "4", "MixedInstancesPolicy": policy}),
        "Drain": (
            "AutoScaling::LifecycleHook",
            {
                "AutoScalingGroupName": {"Ref": "Group"},
                "LifecycleHookName": naming.DRAIN_HOOK,
                "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            },
        ),
        "Task": ("ECS::TaskDefinition", {"Family": "pool", "ContainerDefinitions": [container]}),
        "Jobs": (
            "DynamoDB::Table",
            {
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
                "BillingMode": "PAY_PER_REQUEST",
            },
        ),
    }
    return {name: {"Type": f"AWS::{kind}", "Properties": given} for name, (kind, given) in resources.items()}


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    running = start_emulator(tmp_path_factory.mktemp("pool"))
    with pointed_at(aws_environment(running.url, "000000000000", "us-east-2")):
        yield Deployment(running)
    running.process.terminate()
    running.process.wait(timeout=60)


def test_a_job_survives_an_interruption_and_a_sick_node_and_the_pool_goes_back_to_nothing(
    deployment: Deployment,
) -> None:
    deployment.look()
    assert deployment.instances() == []

    # Launch: all nodes, then all containers, told what AWS Batch tells.
    deployment.submit()
    first = deployment.until(Phase.RUNNING).attempts[0]
    assert sorted(rank.instance_id for rank in first.ranks) == sorted(deployment.instances())
    ecs = deployment.account.client("ecs")
    told = ecs.describe_tasks(cluster=CLUSTER, tasks=[first.ranks[1].task])["tasks"][0]
    (override,) = told["overrides"]["containerOverrides"]
    variables = {each["name"]: each["value"] for each in override["environment"]}
    assert variables["AWS_BATCH_JOB_NODE_INDEX"] == "1"
    assert variables["AWS_BATCH_JOB_NUM_NODES"] == "2"
    assert variables["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] == first.ranks[0].address
    assert variables["NEURON_FLEET_JOB"] == "llama"

    # Interruption: EC2 takes a node back, the other container ends, and both start again on whole nodes.
    lost = first.ranks[1].instance_id
    deployment.account.client("ec2").terminate_instances(InstanceIds=[lost])
    second = deployment.until(Phase.RUNNING, attempt=2)
    assert f"{lost}) terminated" in second.attempts[0].ranks[1].reason
    assert lost not in {rank.instance_id for rank in second.attempts[1].ranks}

    # A sick node: its agent's event, the job saves, the node is replaced, and the job runs elsewhere.
    sick = second.attempts[1].ranks[0].instance_id
    minute = f"{deployment.now:%Y-%m-%dT%H:%M:00Z}"
    line = {
        "environment": "staging", "fleet": "trn1-spot", "node": sick, "state": "FAULT", "minute": minute,
        "state_reason": "hbm-uncorrectable on device 3", "hardware_errors": [{"action": "replace"}],
    }  # fmt: skip
    logged = gzip.compress(json.dumps({"logEvents": [{"message": json.dumps(line)}]}).encode())
    event = {"awslogs": {"data": base64.b64encode(logged).decode()}}
    for fleet, faults in wake(event, [deployment.place], deployment.now).faults.items():
        deployment.aws.jobs.note(fleet, faults)
    third = deployment.until(Phase.RUNNING, attempt=3)
    assert "hbm-uncorrectable" in deployment.aws.jobs.read("trn1-spot").memory.replaced[0].reason
    deployment.look(2)
    assert sick not in deployment.instances()
    assert sick not in {rank.instance_id for rank in third.attempts[2].ranks}

    # Its end, and the pool's.
    for rank in third.attempts[2].ranks:
        deployment.exit(rank.task, 0)
    ended = deployment.until(Phase.SUCCEEDED, attempt=3)
    assert [rank.exit_code for rank in ended.attempts[2].ranks] == [0, 0]
    assert len(deployment.instances()) == 2
    deployment.look(14)
    assert deployment.instances() == []


def test_two_invocations_never_look_at_one_pool_at_once(deployment: Deployment) -> None:
    with deployment.aws.jobs.turn("trn1-spot", deployment.now):
        (skipped,) = service.look(deployment.aws, [deployment.place], deployment.now)
        assert skipped.is_skipped
    (seen,) = service.look(deployment.aws, [deployment.place], deployment.now)
    assert not seen.is_skipped
