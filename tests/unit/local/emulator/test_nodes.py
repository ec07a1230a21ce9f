"""Instances of the embedded AWS: how many there are, in which reservation, and why there are not more."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.control import EmulatorControl
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

REGION = "us-east-2"
START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
BLOCK = "cr-0a1b2c3d4e5f60718"
NO_CAPACITY = {"code": "InsufficientInstanceCapacity", "message": "We do not have sufficient capacity."}
POOL = "pool"
POOL_ARN = f"arn:aws:resource-groups:us-east-2:000000000000:group/{POOL}"


@pytest.fixture
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """A new account for each test: every one of them counts instances."""
    running = start_emulator(tmp_path_factory.mktemp("nodes"))
    EmulatorControl(running.url).set_clock(START.timestamp())
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def control(account: Emulator) -> EmulatorControl:
    return EmulatorControl(account.url)


def _template(instance_type: str, target: dict[str, str], **data: Any) -> dict[str, Any]:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "fleet", "Value": "a"}]}]
    specification = {"CapacityReservationTarget": target} if target else {}
    content = {"InstanceType": instance_type, "TagSpecifications": tags, **data}
    if specification:
        content["CapacityReservationSpecification"] = specification
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": content}}


def _training(instance_type: str, zone: str, target: dict[str, str], **data: Any) -> dict[str, Any]:
    """A compute environment without nodes in one subnet of ``zone``, and the group of its reservations."""
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/20", "AvailabilityZone": zone}
    nodes = {
        "Type": "EC2",
        "MinvCpus": 0,
        "MaxvCpus": 1024,
        "InstanceTypes": [instance_type],
        "InstanceRole": "node",
        "Subnets": [{"Ref": "Subnet"}],
        "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"},
    }
    configuration = [{"Type": "AWS::EC2::CapacityReservationPool"}]
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.1.0.0/16"}},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
        "Template": _template(instance_type, target, **data),
        "Nodes": {
            "Type": "AWS::Batch::ComputeEnvironment",
            "Properties": {"Type": "MANAGED", "ComputeResources": nodes},
        },
        "Group": {"Type": "AWS::ResourceGroups::Group", "Properties": {"Name": POOL, "Configuration": configuration}},
    }


def _instances(account: Emulator) -> list[dict[str, Any]]:
    wanted = [{"Name": "tag:fleet", "Values": ["a"]}, {"Name": "instance-state-name", "Values": ["running"]}]
    found = account.client("ec2").describe_instances(Filters=wanted)["Reservations"]
    return [each for reservation in found for each in reservation["Instances"]]


def _available(account: Emulator, reservation_id: str) -> int:
    ec2 = account.client("ec2")
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])["CapacityReservations"]
    return int(found["AvailableInstanceCount"])


def _scale(account: Emulator, environment: str, vcpus: int) -> None:
    account.client("batch").update_compute_environment(
        computeEnvironment=environment, computeResources={"minvCpus": vcpus}
    )


def _pooled(account: Emulator, control: EmulatorControl, reservation_id: str, total: int) -> None:
    """Seed a reservation of trn1.32xlarge and put it into the group."""
    seeded = control.put_reservation(
        REGION, reservation_id, instance_type="trn1.32xlarge", availability_zone="us-east-2c", total=total
    )
    arns = [seeded["CapacityReservationArn"]]
    account.client("resource-groups").group_resources(Group=POOL, ResourceArns=arns)


def test_nodes_use_the_reservations_of_their_group_and_give_them_back(
    account: Emulator, control: EmulatorControl
) -> None:
    target = {"CapacityReservationResourceGroupArn": POOL_ARN}
    nodes = deploy(account, "training", _training("trn1.32xlarge", "us-east-2c", target))["Nodes"]
    _pooled(account, control, "cr-1", total=4)
    assert (_instances(account), _available(account, "cr-1")) == ([], 4)

    # 128 vCPUs a node: 3 nodes.
    _scale(account, nodes, 384)
    running = _instances(account)
    assert [each["CapacityReservationId"] for each in running] == ["cr-1"] * 3
    assert [each["Placement"]["AvailabilityZone"] for each in running] == ["us-east-2c"] * 3
    assert [each["LaunchTime"] for each in running] == [START] * 3
    assert _available(account, "cr-1") == 1
    _scale(account, nodes, 128)

    assert (len(_instances(account)), _available(account, "cr-1")) == (1, 3)


def test_a_node_without_room_in_its_group_runs_on_demand_and_moves_in_later(
    account: Emulator, control: EmulatorControl
) -> None:
    target = {"CapacityReservationResourceGroupArn": POOL_ARN}
    nodes = deploy(account, "training", _training("trn1.32xlarge", "us-east-2c", target))["Nodes"]
    _pooled(account, control, "cr-1", total=1)
    _scale(account, nodes, 256)

    def reservations() -> list[str]:
        return sorted(each.get("CapacityReservationId", "on demand") for each in _instances(account))

    assert reservations() == ["cr-1", "on demand"]
    _pooled(account, control, "cr-2", total=2)
    assert reservations() == ["cr-1", "cr-2"]
    assert _available(account, "cr-2") == 1
    control.put_reservation(REGION, "cr-1", state="expired")
    # What ran in it moves into the room that is left.
    assert reservations() == ["cr-2", "cr-2"]


def test_a_block_has_room_only_while_it_lasts_and_takes_its_nodes_along(
    account: Emulator, control: EmulatorControl
) -> None:
    market = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    target = {"CapacityReservationId": BLOCK}
    nodes = deploy(account, "training", _training("trn2.48xlarge", "us-east-2a", target, **market))["Nodes"]
    control.put_reservation(
        REGION, BLOCK, instance_type="trn2.48xlarge", availability_zone="us-east-2a", total=2, type="capacity-block",
        start=(START + timedelta(hours=1)).isoformat(), end=(START + timedelta(hours=25)).isoformat(),
    )  # fmt: skip
    # 192 vCPUs a node: 3 nodes, of which 2 have room.
    _scale(account, nodes, 576)

    seen = []
    for hours in (0, 1, 25):
        control.set_clock((START + timedelta(hours=hours)).timestamp())
        seen.append((len(_instances(account)), _available(account, BLOCK)))

    assert seen == [(0, 0), (2, 0), (0, 0)]


def test_a_refused_launch_leaves_a_fleet_short_until_the_fault_is_gone(
    account: Emulator, control: EmulatorControl
) -> None:
    nodes = deploy(account, "training", _training("trn1.32xlarge", "us-east-2c", {}))["Nodes"]
    match = {"InstanceType": "trn1.32xlarge"}
    control.set_faults([{"call": "ec2:RunInstances", "match": match, "error": NO_CAPACITY}])
    _scale(account, nodes, 256)

    assert _instances(account) == []
    control.set_faults([])
    assert len(_instances(account)) == 2


def test_a_group_asks_for_its_nodes_when_its_schedule_says_so(account: Emulator, control: EmulatorControl) -> None:
    launch = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    group = {"MinSize": "0", "MaxSize": "2", "LaunchTemplate": launch}
    schedule = {"AutoScalingGroupName": {"Ref": "Group"}, "Recurrence": "*/5 * * * *", "DesiredCapacity": 2}
    name = deploy(
        account,
        "inference",
        {
            "Template": _template("inf2.48xlarge", {}),
            "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
            "Ask": {"Type": "AWS::AutoScaling::ScheduledAction", "Properties": schedule},
        },
    )["Group"]

    def members() -> list[str]:
        groups = account.client("autoscaling")
        (found,) = groups.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        return sorted(each["InstanceId"] for each in found["Instances"])

    counts = []
    for minutes in (1, 4, 5):
        control.set_clock((START + timedelta(minutes=minutes)).timestamp())
        counts.append(len(members()))
    assert counts == [0, 0, 2]
    assert members() == sorted(each["InstanceId"] for each in _instances(account))
    (one,) = account.client("ec2").describe_instances(
        Filters=[{"Name": "instance-id", "Values": members()[:1]}]
    )["Reservations"]  # fmt: skip
    assert one["Instances"][0]["InstanceId"] == members()[0]


def test_a_deleted_stack_takes_its_nodes_along(account: Emulator) -> None:
    nodes = deploy(account, "training", _training("trn1.32xlarge", "us-east-2c", {}))["Nodes"]
    _scale(account, nodes, 128)
    assert len(_instances(account)) == 1

    stacks = account.client("cloudformation")
    stacks.delete_stack(StackName="training")
    stacks.get_waiter("stack_delete_complete").wait(StackName="training", WaiterConfig={"Delay": 0.1})

    assert _instances(account) == []


def _job(nodes: int) -> dict[str, Any]:
    """A queue over the environment, and a job of so many nodes."""
    container = {"Image": "training:local", "Command": ["train"]}
    ranges = [{"TargetNodes": "0:", "Container": container}]
    order = [{"Order": 1, "ComputeEnvironment": {"Ref": "Nodes"}}]
    multinode = {"NumNodes": nodes, "MainNode": 0, "NodeRangeProperties": ranges}
    return {
        "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": {"Priority": 1, "ComputeEnvironmentOrder": order}},
        "Job": {"Type": "AWS::Batch::JobDefinition", "Properties": {"Type": "multinode", "NodeProperties": multinode}},
    }


def test_a_job_has_instances_launched_runs_where_agents_join_and_gives_them_back(
    account: Emulator, control: EmulatorControl
) -> None:
    made = deploy(account, "training", _training("trn1.32xlarge", "us-east-2c", {}) | _job(2))
    batch = account.client("batch")
    assert _instances(account) == []
    job = batch.submit_job(jobName="a", jobQueue=made["Queue"], jobDefinition=made["Job"])["jobId"]

    def status(name: str) -> str:
        return str(batch.describe_jobs(jobs=[name])["jobs"][0]["status"])

    instances = [each["InstanceId"] for each in _instances(account)]
    assert len(instances) == 2
    assert status(job) == "RUNNABLE"
    for each in instances:
        control.join_cluster(REGION, each)
    assert status(job) == "STARTING"
    tasks = {each: control.report_tasks(REGION, each, [])[0] for each in instances}
    assert [task["container"]["command"] for task in tasks.values()] == [["train"], ["train"]]
    for each, task in tasks.items():
        control.report_tasks(REGION, each, [{"task": task["task"], "status": "RUNNING"}])
    assert [status(f"{job}#{index}") for index in (0, 1)] == ["RUNNING", "RUNNING"]

    # The main node's host is gone: without a rule that says otherwise, and with one attempt, the job has failed.
    main = next(name for name, task in tasks.items() if task["container"]["environment"]["AWS_BATCH_JOB_ID"][-1] == "0")
    account.client("ec2").terminate_instances(InstanceIds=[main])
    assert len(_instances(account)) == 2
    (other,) = set(instances) - {main}
    assert [task["run"] for task in control.report_tasks(REGION, other, [])] == [False]
    stopped = {"task": tasks[other]["task"], "status": "STOPPED", "exit_code": 143}
    control.report_tasks(REGION, other, [stopped])
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert (found["status"], found["statusReason"]) == ("FAILED", f"Host EC2 (instance {main}) terminated.")
    assert _instances(account) == []
