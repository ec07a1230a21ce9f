"""Batch, Auto Scaling and Service Quotas over boto3, as an account that has or lacks capacity answers them."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.instances import catalogue
from local.control import EmulatorControl, EmulatorGoneError
from local.emulator.capacity.quotas import NAMES
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

REGION = "us-east-2"
START = 1_790_000_040
NO_CAPACITY = {"code": "InsufficientInstanceCapacity", "message": "We do not have sufficient capacity."}


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(tmp_path_factory.mktemp("account"))
    EmulatorControl(running.url).set_clock(START)
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def control(account: Emulator) -> Iterator[EmulatorControl]:
    yield EmulatorControl(account.url)
    EmulatorControl(account.url).set_faults([])


def _training(maximum: int) -> dict[str, Any]:
    nodes = {
        "Type": "EC2",
        "AllocationStrategy": "BEST_FIT_PROGRESSIVE",
        "MinvCpus": 0,
        "MaxvCpus": maximum,
        "InstanceTypes": ["trn1.32xlarge"],
        "InstanceRole": "arn:aws:iam::000000000000:instance-profile/node",
        "Subnets": ["subnet-1"],
        "Ec2Configuration": [{"ImageType": "ECS_AL2023", "ImageIdOverride": "ami-1"}],
        "Tags": {"fleet": "a", "Owner": "b"},
    }
    environment = {"Type": "MANAGED", "ComputeEnvironmentName": "trn1", "ComputeResources": nodes}
    order = [{"Order": 1, "ComputeEnvironment": {"Ref": "Environment"}}]
    queue = {"JobQueueName": "trn1-queue", "Priority": 1, "ComputeEnvironmentOrder": order}
    return {
        "Environment": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": environment},
        "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": queue},
    }


@pytest.fixture(scope="module")
def training(account: Emulator) -> dict[str, str]:
    """The ARNs of a compute environment and its queue, for 4 nodes of 128 vCPUs."""
    return deploy(account, "training", _training(512))


def test_a_compute_environment_and_its_queue_are_those_of_the_stack(
    account: Emulator, training: dict[str, str]
) -> None:
    batch = account.client("batch")

    (by_arn,) = batch.describe_compute_environments(computeEnvironments=[training["Environment"]])[
        "computeEnvironments"
    ]
    (by_name,) = batch.describe_compute_environments(computeEnvironments=["trn1"])["computeEnvironments"]
    (queue,) = batch.describe_job_queues(jobQueues=[training["Queue"]])["jobQueues"]

    assert by_arn == by_name
    assert (by_arn["state"], by_arn["status"], by_arn["type"]) == ("ENABLED", "VALID", "MANAGED")
    assert by_arn["computeResources"] == {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "minvCpus": 0,
        "maxvCpus": 512,
        "instanceTypes": ["trn1.32xlarge"],
        "instanceRole": "arn:aws:iam::000000000000:instance-profile/node",
        "subnets": ["subnet-1"],
        "ec2Configuration": [{"imageType": "ECS_AL2023", "imageIdOverride": "ami-1"}],
        "tags": {"fleet": "a", "Owner": "b"},
    }
    assert queue["computeEnvironmentOrder"] == [{"order": 1, "computeEnvironment": training["Environment"]}]
    assert batch.describe_compute_environments(computeEnvironments=["other"])["computeEnvironments"] == []


def test_a_changed_environment_keeps_its_change_until_a_deploy_changes_it(account: Emulator) -> None:
    batch = account.client("batch")
    resources = _training(512)
    resources["Environment"]["Properties"]["ComputeEnvironmentName"] = "scaled"
    resources = {"Environment": resources["Environment"]}
    made = deploy(account, "scaled", resources)["Environment"]

    def shown() -> tuple[str, int, int]:
        (found,) = batch.describe_compute_environments(computeEnvironments=[made])["computeEnvironments"]
        return found["state"], found["computeResources"]["minvCpus"], found["computeResources"]["maxvCpus"]

    batch.update_compute_environment(computeEnvironment=made, computeResources={"minvCpus": 256})
    batch.update_compute_environment(computeEnvironment="scaled", state="DISABLED")
    assert shown() == ("DISABLED", 256, 512)
    with pytest.raises(ClientError, match="minvCpus must be less than or equal to maxvCpus"):
        batch.update_compute_environment(computeEnvironment=made, computeResources={"minvCpus": 640})
    resources["Environment"]["Properties"]["ComputeResources"]["MaxvCpus"] = 1024
    deploy(account, "scaled", resources, update=True)

    assert shown() == ("ENABLED", 0, 1024)


def test_an_environment_that_batch_cannot_use_says_why(
    account: Emulator, control: EmulatorControl, training: dict[str, str]
) -> None:
    control.put_compute_environment(REGION, training["Environment"], "INVALID", "CLIENT_ERROR - no such subnet")

    (found,) = account.client("batch").describe_compute_environments()["computeEnvironments"][:1]

    assert (found["status"], found["statusReason"]) == ("INVALID", "CLIENT_ERROR - no such subnet")
    control.put_compute_environment(REGION, "trn1", "VALID", "ComputeEnvironment Healthy")


def test_jobs_are_listed_by_queue_and_status_and_can_be_terminated(
    account: Emulator, control: EmulatorControl, training: dict[str, str]
) -> None:
    batch, queue = account.client("batch"), training["Queue"]
    reason = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"
    jobs = [
        {"jobId": "j-1", "jobName": "pretrain", "status": "RUNNING"},
        {"jobId": "j-2", "jobName": "blocked", "status": "RUNNABLE", "statusReason": reason},
    ]

    def listed(status: str) -> list[str]:
        return [job["jobId"] for job in batch.list_jobs(jobQueue=queue, jobStatus=status)["jobSummaryList"]]

    assert batch.list_jobs(jobQueue="trn1-queue")["jobSummaryList"] == []
    control.put_jobs(REGION, queue, jobs)
    assert (listed("RUNNING"), listed("RUNNABLE")) == (["j-1"], ["j-2"])
    (blocked,) = batch.list_jobs(jobQueue=queue, jobStatus="RUNNABLE")["jobSummaryList"]
    assert (blocked["statusReason"], blocked["createdAt"]) == (reason, START * 1000)
    batch.terminate_job(jobId="j-1", reason="The block ends.")
    assert (listed("RUNNING"), listed("FAILED")) == ([], ["j-1"])
    assert batch.describe_jobs(jobs=["j-1"])["jobs"][0]["statusReason"] == "The block ends."
    submitted = batch.submit_job(jobName="next", jobQueue=queue, jobDefinition="train:1")["jobId"]
    assert listed("RUNNABLE") == ["j-2", submitted]
    control.put_jobs(REGION, queue, [])
    assert listed("RUNNABLE") == []


def test_a_job_is_found_by_its_name_and_told_as_it_was_submitted(account: Emulator, training: dict[str, str]) -> None:
    batch, queue = account.client("batch"), training["Queue"]
    told = {"parameters": {"tokens_wanted": "1e9"}, "tags": {"owner": "research"}, "shareIdentifier": "research"}
    nodes = {"numNodes": 2, "nodePropertyOverrides": []}
    job = batch.submit_job(jobName="Llama-1", jobQueue=queue, jobDefinition="t:1", nodeOverrides=nodes, **told)["jobId"]
    batch.terminate_job(jobId=job, reason="over")

    def named(value: str) -> list[str]:
        filters = [{"name": "JOB_NAME", "values": [value]}]
        return [each["jobId"] for each in batch.list_jobs(jobQueue=queue, filters=filters)["jobSummaryList"]]

    # Whatever its state, and without telling capital letters from small ones.
    assert (named("llama-1"), named("LLAMA*"), named("llama")) == ([job], [job], [])
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert found.items() >= told.items()
    assert found["nodeProperties"]["numNodes"] == 2


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("list_jobs", {"jobQueue": "none"}),
        ("terminate_job", {"jobId": "none", "reason": "x"}),
        ("update_compute_environment", {"computeEnvironment": "none", "state": "DISABLED"}),
        ("submit_job", {"jobName": "x", "jobQueue": "none", "jobDefinition": "x"}),
    ],
)
def test_what_batch_does_not_have_is_a_client_error(
    account: Emulator, training: dict[str, str], operation: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(ClientError) as refused:
        getattr(account.client("batch"), operation)(**arguments)

    assert refused.value.response["Error"]["Code"] == "ClientException"


def _group(nodes: int) -> dict[str, Any]:
    template = {"LaunchTemplateData": {"InstanceType": "inf2.48xlarge"}}
    launch = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
    group = {"MinSize": "0", "MaxSize": "4", "DesiredCapacity": str(nodes), "LaunchTemplate": launch}
    return {
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
    }


def test_a_group_gets_its_instances_and_says_so(account: Emulator) -> None:
    groups, name = account.client("autoscaling"), deploy(account, "inference", _group(2))["Group"]

    (found,) = groups.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    activities = groups.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]

    assert [each["LifecycleState"] for each in found["Instances"]] == ["InService", "InService"]
    assert [each["StatusCode"] for each in activities] == ["Successful", "Successful"]


def test_a_group_without_capacity_stays_short_and_quotes_ec2(account: Emulator, control: EmulatorControl) -> None:
    groups = account.client("autoscaling")
    match = {"InstanceType": "inf2.48xlarge"}
    control.set_faults([{"call": "ec2:RunInstances", "match": match, "error": NO_CAPACITY}])
    name = deploy(account, "short", _group(2))["Group"]

    def short() -> tuple[int, list[tuple[str, str]]]:
        (found,) = groups.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        activities = groups.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]
        return len(found["Instances"]), [(each["StatusCode"], each.get("StatusMessage", "")) for each in activities]

    failure = ("Failed", "We do not have sufficient capacity. Launching EC2 instance failed.")
    assert short() == (0, [failure])
    control.set_faults([])
    instances, activities = short()
    assert (instances, [status for status, _ in activities]) == (2, ["Successful", "Successful", "Failed"])


def test_a_seeded_activity_is_the_newest(account: Emulator, control: EmulatorControl) -> None:
    name = deploy(account, "seeded", _group(0))["Group"]

    control.put_group_activity(REGION, name, "Failed", "The image does not exist.")

    (found,) = account.client("autoscaling").describe_scaling_activities(AutoScalingGroupName=name)["Activities"]
    assert found["Description"] == "Launching a new EC2 instance.  Status Reason: The image does not exist."


def test_a_group_that_is_not_there_has_no_activities(account: Emulator) -> None:
    with pytest.raises(ClientError, match="not found"):
        account.client("autoscaling").describe_scaling_activities(AutoScalingGroupName="none")


def test_quotas_are_generous_until_one_is_seeded(account: Emulator, control: EmulatorControl) -> None:
    quotas = account.client("service-quotas")
    control.put_quota(REGION, "L-2C3B7624", 256)

    found = {
        each["QuotaCode"]: (each["QuotaName"], each["Value"])
        for page in quotas.get_paginator("list_service_quotas").paginate(
            ServiceCode="ec2", PaginationConfig={"PageSize": 4}
        )
        for each in page["Quotas"]
    }

    assert found["L-2C3B7624"] == ("Running On-Demand Trn instances", 256.0)
    assert found["L-1945791B"] == ("Running On-Demand Inf instances", 100_000.0)
    assert quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-2C3B7624")["Quota"]["Value"] == 256.0


def test_every_quota_of_the_domain_has_its_name() -> None:
    assert {code for known in catalogue().values() for code in known.quotas.values() if code} == set(NAMES)


def test_an_unknown_quota_is_an_error(account: Emulator, control: EmulatorControl) -> None:
    quotas = account.client("service-quotas")

    with pytest.raises(quotas.exceptions.NoSuchResourceException):
        quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000")
    with pytest.raises(EmulatorGoneError, match="L-00000000"):
        control.put_quota(REGION, "L-00000000", 1)
    with pytest.raises(ClientError, match="is not served here"):
        quotas.list_services()


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("quotas", {"region": REGION, "code": "L-2C3B7624"}, "has exactly region: str, code: str, value: float"),
        ("subnets", {"region": REGION, "subnet": "s", "available": "3"}, "available '3' is wrong"),
        ("jobs", {"region": REGION, "queue": "trn1-queue", "jobs": [{"jobId": "j"}]}, "needs jobId, jobName"),
        ("offerings", {"region": REGION, "instance_type": "trn9.x", "zone_ids": []}, "trn9"),
        ("metrics", {"region": REGION, "namespace": "N"}, "metrics: the body has exactly region"),
        ("metrics", [], "metrics: the body has exactly region"),
    ],
)
def test_a_wrong_seed_is_refused_in_one_line(
    control: EmulatorControl, path: str, body: dict[str, Any], said: str
) -> None:
    with pytest.raises(EmulatorGoneError, match=said):
        control._call(f"/_local/{path}", body, 15.0)
