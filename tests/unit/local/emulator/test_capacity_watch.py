"""The capacity watch, with its real adapters, against an embedded AWS that has or lacks capacity."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from fleet.reserved.assessment import Assessment
from fleet.reserved.observed import FleetDeployment
from lambdas.capacity_watch import adapters, service
from local.control import EmulatorControl
from local.emulator_process import aws_environment, pointed_at
from tests.support.watched_capacity import endpoint, on_demand, place
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

NO_CAPACITY = "There is currently no available capacity for trn1.32xlarge in us-east-2c"
STACK = "reservation-pretrain"
GROUP = "neuron-fleet-prod-pretrain"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(tmp_path_factory.mktemp("watch"))
    with pointed_at(aws_environment(running.url, "000000000000", "us-east-2")):
        yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def control(account: Emulator) -> Iterator[EmulatorControl]:
    yield EmulatorControl(account.url)
    EmulatorControl(account.url).set_faults([])


@pytest.fixture(scope="module")
def fleet(account: Emulator) -> FleetDeployment:
    """Sixteen trn1 nodes of a Batch fleet, and the group of its reservations."""
    nodes = {
        "Type": "EC2",
        "MinvCpus": 0,
        "MaxvCpus": 2048,
        "InstanceTypes": ["trn1.32xlarge"],
        "InstanceRole": "node",
        "Subnets": ["subnet-1"],
    }
    environment = {"Type": "MANAGED", "ComputeResources": nodes}
    queue = {"Priority": 1, "ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": {"Ref": "Nodes"}}]}
    pool = {"Name": GROUP, "Configuration": [{"Type": "AWS::EC2::CapacityReservationPool"}]}
    ids = deploy(
        account,
        "pretrain",
        {
            "Nodes": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": environment},
            "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": queue},
            "Group": {"Type": "AWS::ResourceGroups::Group", "Properties": pool},
        },
    )
    return place(compute_environment=ids["Nodes"], queue=ids["Queue"], reservation_stack=STACK)


def reserve(account: Emulator) -> None:
    """Deploy the reservation's stack, as the command line does: one that was rolled back goes first."""
    stacks = account.client("cloudformation")
    tags = {"project": "neuron-fleet", "environment": "prod", "fleet": "pretrain"}
    specification = {
        "ResourceType": "capacity-reservation",
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    properties = {
        "InstanceType": "trn1.32xlarge",
        "InstancePlatform": "Linux/UNIX",
        "InstanceCount": 16,
        "AvailabilityZone": "us-east-2c",
        "InstanceMatchCriteria": "targeted",
        "TagSpecifications": [specification],
    }
    resources = {"Reservation": {"Type": "AWS::EC2::CapacityReservation", "Properties": properties}}
    stacks.create_stack(StackName=STACK, TemplateBody=json.dumps({"Resources": resources}))
    stacks.get_waiter("stack_create_complete").wait(StackName=STACK, WaiterConfig={"Delay": 0.1})


def looked(*places: FleetDeployment) -> list[tuple[Assessment | None, tuple[str, ...]]]:
    looks = service.look(adapters.dependencies(), places, datetime.now(UTC))
    return [(look.assessment, look.problems) for look in looks]


def test_a_reservation_is_missed_with_the_reason_then_joins_and_its_nodes_are_kept(
    account: Emulator, control: EmulatorControl, fleet: FleetDeployment
) -> None:
    batch, groups = account.client("batch"), account.client("resource-groups")

    def kept() -> int:
        (found,) = batch.describe_compute_environments(computeEnvironments=[fleet.compute_environment])[
            "computeEnvironments"
        ]
        return int(found["computeResources"]["minvCpus"])

    error = {"code": "InsufficientInstanceCapacity", "message": NO_CAPACITY}
    control.set_faults([{"call": "AWS::EC2::CapacityReservation", "error": error}])
    with pytest.raises(WaiterError):
        reserve(account)
    ((refused, problems),) = looked(fleet)

    assert problems == ()
    assert refused is not None
    assert (refused.missing, refused.reserved) == (16, 0)
    assert NO_CAPACITY in str(refused.reason)
    assert kept() == 0

    control.set_faults([])
    account.client("cloudformation").delete_stack(StackName=STACK)
    account.client("cloudformation").get_waiter("stack_delete_complete").wait(
        StackName=STACK, WaiterConfig={"Delay": 0.1}
    )
    ((gone, _),) = looked(fleet)
    assert gone is not None
    assert gone.reason == f"stack {STACK} is not deployed"

    reserve(account)
    ((granted, problems),) = looked(fleet)
    ((again, _),) = looked(fleet)

    assert (problems, granted) == ((), again)
    assert granted is not None
    assert (granted.missing, granted.reserved, granted.unused) == (0, 16, 16)
    # 16 x 128 vCPUs
    assert kept() == 2048
    assert len(groups.list_group_resources(Group=GROUP)["Resources"]) == 1


def test_the_words_of_batch_and_of_auto_scaling_are_quoted(
    account: Emulator, control: EmulatorControl, fleet: FleetDeployment
) -> None:
    words = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested"
    waiting = {
        "jobId": "job-1",
        "jobName": "pretrain",
        "status": "RUNNABLE",
        "statusReason": words,
        "createdAt": 1795251600000,
        "nodeProperties": {"numNodes": 8},
    }
    control.put_jobs("us-east-2", str(fleet.queue), [waiting])
    asked: dict[str, Any] = {"MinSize": "0", "MaxSize": "4", "DesiredCapacity": "0"}
    template = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {}}}
    asked["LaunchTemplate"] = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    group = {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": asked}
    name = deploy(account, "chat", {"Template": template, "Group": group})["Group"]
    control.put_group_activity(
        "us-east-2", name, "Failed", "We currently do not have sufficient inf2.48xlarge capacity"
    )
    bought = on_demand(compute_environment=fleet.compute_environment, queue=fleet.queue)

    (trains, _), (serves, _) = looked(bought, endpoint(auto_scaling_group=name))

    assert trains is not None
    assert (trains.missing, trains.reason) == (8, f"Batch says of job job-1: {words}")
    assert serves is not None
    assert (serves.missing, serves.reason) == (
        4,
        "Auto Scaling says: We currently do not have sufficient inf2.48xlarge capacity",
    )


def test_a_warm_pool_is_taken_and_has_no_nodes(account: Emulator) -> None:
    asked: dict[str, Any] = {"MinSize": "0", "MaxSize": "4", "DesiredCapacity": "1"}
    template = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {}}}
    asked["LaunchTemplate"] = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    group = {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": asked}
    sizes = {"MinSize": 2, "MaxGroupPreparedCapacity": 2, "PoolState": "Stopped"}
    pool = {"Type": "AWS::AutoScaling::WarmPool", "Properties": {"AutoScalingGroupName": {"Ref": "Nodes"}, **sizes}}
    name = deploy(account, "warm", {"Template": template, "Nodes": group, "Pool": pool})["Nodes"]

    ((seen, problems),) = looked(endpoint(auto_scaling_group=name, scales=True, has_warm_pool=True))

    assert problems == ()
    assert seen is not None
    assert seen.missing == 0
    with pytest.raises(ClientError, match="AutoScalingGroup name not found"):
        account.client("autoscaling").describe_warm_pool(AutoScalingGroupName="nobodys")


def test_a_service_that_does_not_answer_leaves_its_fleets_unknown_and_the_others_seen(
    account: Emulator, control: EmulatorControl, fleet: FleetDeployment
) -> None:
    error = {"code": "AccessDenied", "message": "not authorized to perform batch:DescribeComputeEnvironments"}
    control.set_faults([{"call": "batch:DescribeComputeEnvironments", "error": error}])
    serves = endpoint(auto_scaling_group=deploy(account, "one", _one_node())["Group"], nodes=1)

    (unknown, problems), (seen, none) = looked(replace(fleet, fleet="other", own_group=None), serves)

    assert unknown is None
    assert "not authorized to perform batch:DescribeComputeEnvironments" in problems[0]
    assert seen is not None
    assert (seen.missing, none) == (0, ())


def _one_node() -> dict[str, Any]:
    launch = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    group = {"MinSize": "0", "MaxSize": "1", "DesiredCapacity": "1", "LaunchTemplate": launch}
    template = {"LaunchTemplateData": {"InstanceType": "inf2.48xlarge"}}
    return {
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
    }
