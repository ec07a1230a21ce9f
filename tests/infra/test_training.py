"""Training on AWS Batch: the nodes, the queue, and a job that holds every device of every node."""

import json
from typing import Any

import pytest
import yaml
from cdk_nag import AwsSolutionsChecks

from environments import loader
from environments.model import Environment
from fleet import naming
from fleet.compile_cache.graph import LOCAL_FOLDER
from tests.support.templates import stage_of, templates
from workload.compile_cache import settings
from workload.compile_cache.flight.single_flight import OnMiss

EACH = [(name, fleet.name) for name in loader.available() for fleet in loader.load(name).batch_fleets]


def container(environment: str, fleet: str) -> dict[str, Any]:
    definition = templates(environment)["training"].resource("AWS::Batch::JobDefinition", f"{fleet}/")
    (nodes,) = definition.properties["NodeProperties"]["NodeRangeProperties"]
    found: dict[str, Any] = nodes["Container"]
    return found


def devices(environment: str, fleet: str) -> list[str]:
    return [device["HostPath"] for device in container(environment, fleet)["LinuxParameters"]["Devices"]]


def environment_of(environment: str, fleet: str) -> dict[str, str]:
    return {variable["Name"]: variable["Value"] for variable in container(environment, fleet)["Environment"]}


def test_a_trn2_job_holds_sixteen_neuron_and_sixteen_efa_devices() -> None:
    neuron = [f"/dev/neuron{index}" for index in range(16)]
    assert devices("prod", "trn2-frontier") == neuron + [f"/dev/infiniband/uverbs{index}" for index in range(16)]


def test_a_trn1_job_holds_sixteen_neuron_and_eight_efa_devices() -> None:
    neuron = [f"/dev/neuron{index}" for index in range(16)]
    assert devices("prod", "trn1-pretrain") == neuron + [f"/dev/infiniband/uverbs{index}" for index in range(8)]
    assert (
        environment_of("prod", "trn1-pretrain").items() >= {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}.items()
    )


def test_a_job_on_a_single_small_node_asks_for_no_efa() -> None:
    assert devices("dev", "trn1-small") == ["/dev/neuron0"]
    assert not any(name.startswith("FI_") for name in environment_of("dev", "trn1-small"))


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_compilers_work_on_local_disk_and_the_shared_cache_is_read_only(environment: str, fleet: str) -> None:
    job = container(environment, fleet)
    volumes = {volume["Name"]: volume for volume in job["Volumes"]}
    mounts = {mount["ContainerPath"]: mount for mount in job["MountPoints"]}
    told = environment_of(environment, fleet)
    # Else boto3 knows none, and looks for every bucket in us-east-1 first.
    assert told["AWS_DEFAULT_REGION"] == "us-east-2"
    # The agent looks into the same folder of the host.
    assert told["NEURON_COMPILE_CACHE_URL"] == told["NEURON_FLEET_CACHE_LOCAL"] == LOCAL_FOLDER
    assert volumes[mounts[LOCAL_FOLDER]["SourceVolume"]]["Host"] == {"SourcePath": LOCAL_FOLDER}
    shared = mounts[told["NEURON_FLEET_CACHE_SHARED"]]
    assert shared["ReadOnly"] is True
    efs = volumes[shared["SourceVolume"]]["EfsVolumeConfiguration"]
    assert efs["TransitEncryption"] == "ENABLED"
    assert efs["AuthorizationConfig"]["Iam"] == "ENABLED"
    assert "Reader" in str(efs["AuthorizationConfig"]["AccessPointId"])


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_the_library_can_read_what_a_job_is_told_of_the_cache(environment: str, fleet: str) -> None:
    read = settings.read(environment_of(environment, fleet))

    of = loader.load(environment)
    bucket = naming.artifact_bucket(environment, of.account, of.region)
    assert (read.on_miss, "Leases" in str(read.table), read.bucket) == (OnMiss.WAIT, True, bucket)


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_devices_may_pin_as_much_memory_as_they_need(environment: str, fleet: str) -> None:
    assert container(environment, fleet)["Ulimits"] == [{"Name": "memlock", "SoftLimit": -1, "HardLimit": -1}]


@pytest.mark.parametrize(
    ("environment", "fleet", "maximum"),
    [("dev", "trn1-small", 8), ("prod", "trn1-pretrain", 16 * 128), ("prod", "trn2-frontier", 8 * 192)],
)
def test_a_fleet_is_deployed_without_a_node_however_it_is_bought(environment: str, fleet: str, maximum: int) -> None:
    nodes = templates(environment)["training"].resource("AWS::Batch::ComputeEnvironment", f"{fleet}/")
    offered = nodes.properties["ComputeResources"]
    assert (offered["MinvCpus"], offered["MaxvCpus"]) == (0, maximum)


def test_a_queue_offers_the_fleet_in_its_zone() -> None:
    training = templates("prod")["training"]
    nodes = training.resource("AWS::Batch::ComputeEnvironment", "trn1-pretrain/")
    offered = nodes.properties["ComputeResources"]
    assert offered["Type"] == "EC2"
    assert len(offered["Subnets"]) == 1
    assert "SecurityGroupIds" not in offered
    queue = training.resource("AWS::Batch::JobQueue", "trn1-pretrain/")
    (order,) = queue.properties["ComputeEnvironmentOrder"]
    assert nodes.logical_id in str(order["ComputeEnvironment"])


def test_a_capacity_block_fleet_is_in_no_placement_group() -> None:
    training = templates("prod")["training"]
    for fleet, grouped in {"trn1-pretrain": True, "trn2-frontier": False}.items():
        resources = training.resource("AWS::Batch::ComputeEnvironment", f"{fleet}/").properties["ComputeResources"]
        assert ("PlacementGroup" in resources) is grouped


def test_an_updated_environment_lets_running_jobs_finish() -> None:
    for nodes in templates("prod")["training"].resources("AWS::Batch::ComputeEnvironment"):
        assert nodes.properties["UpdatePolicy"] == {"TerminateJobsOnUpdate": False, "JobExecutionTimeoutMinutes": 360}
        assert nodes.properties["ReplaceComputeEnvironment"] is False


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_a_job_sees_the_agents_marker_files_and_cannot_change_them(environment: str, fleet: str) -> None:
    job = container(environment, fleet)
    (mount,) = [mount for mount in job["MountPoints"] if mount["ContainerPath"] == "/run/neuron-fleet"]
    volumes = {volume["Name"]: volume for volume in job["Volumes"]}
    assert mount["ReadOnly"] is True
    assert volumes[mount["SourceVolume"]]["Host"]["SourcePath"] == "/run/neuron-fleet"


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_a_job_is_started_again_for_its_hosts_and_not_for_its_own_mistakes(environment: str, fleet: str) -> None:
    definition = templates(environment)["training"].resource("AWS::Batch::JobDefinition", f"{fleet}/").properties

    assert definition["RetryStrategy"] == {
        "Attempts": 3,
        "EvaluateOnExit": [
            {"Action": "RETRY", "OnStatusReason": "Host EC2*"},
            {"Action": "RETRY", "OnExitCode": "75"},
            {"Action": "RETRY", "OnReason": "CannotPullContainerError*"},
            {"Action": "RETRY", "OnStatusReason": "Task failed to start*"},
            {"Action": "EXIT", "OnReason": "*"},
        ],
    }
    # 14 days
    assert definition["Timeout"] == {"AttemptDurationSeconds": 1209600}


def test_owners_that_wait_get_a_fleet_by_their_shares() -> None:
    content = yaml.safe_load((loader.FOLDER / "dev.yaml").read_text(encoding="utf-8"))
    content["fleets"][0]["shares"] = {"research-lab": 2, "interns": 0.5}
    platform = stage_of(Environment.model_validate(content))

    (body,) = [each.template for each in platform.synth().stacks if each.hierarchical_id.endswith("training")]

    (policy,) = [each for each in body["Resources"].values() if each["Type"] == "AWS::Batch::SchedulingPolicy"]
    # A share of 2 is half the factor; letters and digits only.
    assert policy["Properties"]["FairsharePolicy"]["ShareDistribution"] == [
        {"ShareIdentifier": "interns", "WeightFactor": 2.0},
        {"ShareIdentifier": "researchlab", "WeightFactor": 0.5},
    ]
    (queue,) = [each for each in body["Resources"].values() if each["Type"] == "AWS::Batch::JobQueue"]
    assert "Shares" in str(queue["Properties"]["SchedulingPolicyArn"])


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_a_submission_may_override_the_number_of_nodes(environment: str, fleet: str) -> None:
    # SubmitJob does so only where a range has an open end.
    definition = templates(environment)["training"].resource("AWS::Batch::JobDefinition", f"{fleet}/")
    (nodes,) = definition.properties["NodeProperties"]["NodeRangeProperties"]
    assert nodes["TargetNodes"] == "0:"


def test_whoever_submits_finds_the_queue_and_the_definition_of_each_fleet() -> None:
    training = templates("prod")["training"]
    place = training.resource("AWS::SSM::Parameter", "trn1-pretrain/").properties
    assert place["Name"] == "/neuron-fleet/prod/jobs/trn1-pretrain"
    queue = training.resource("AWS::Batch::JobQueue", "trn1-pretrain/").logical_id
    definition = training.resource("AWS::Batch::JobDefinition", "trn1-pretrain/").logical_id
    # Resolved as CloudFormation would.
    names = {queue: "queue-arn", definition: "definition-arn"}
    text = "".join(
        part if isinstance(part, str) else names[part.get("Ref") or part["Fn::GetAtt"][0]]
        for part in place["Value"]["Fn::Join"][1]
    )
    assert json.loads(text) == {
        "queue": "queue-arn",
        "definition": "definition-arn",
        "image": "111122223333.dkr.ecr.us-east-2.amazonaws.com/training:llama-2026-11",
        "nodes": 16,
    }


def test_jobs_may_read_and_write_what_the_fleets_entry_names_and_nothing_else() -> None:
    content = yaml.safe_load((loader.FOLDER / "dev.yaml").read_text(encoding="utf-8"))
    content["fleets"][0] |= {"reads": ["s3://data/tokens/"], "writes": ["s3://checkpoints"]}
    platform = stage_of(Environment.model_validate(content))
    assert AwsSolutionsChecks(platform).validate_scope(platform).violations == []

    (body,) = [each.template for each in platform.synth().stacks if each.hierarchical_id.endswith("training")]

    policies = [each for name, each in body["Resources"].items() if "JobRoleDefaultPolicy" in name]
    (policy,) = [each["Properties"]["PolicyDocument"]["Statement"] for each in policies]
    artifacts = f"arn:aws:s3:::{naming.artifact_bucket('dev', content['account'], content['region'])}"
    of_s3 = [each for each in policy if str(each["Action"]).count("s3:")]
    assert [(each["Action"], each["Resource"], each.get("Condition")) for each in of_s3] == [
        ("s3:GetObject", ["arn:aws:s3:::data/tokens/*", f"{artifacts}/neuron-artifacts/*"], None),
        ("s3:ListBucket", "arn:aws:s3:::data", {"StringLike": {"s3:prefix": ["tokens/*"]}}),
        (
            ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            "arn:aws:s3:::checkpoints/*",
            None,
        ),
        ("s3:ListBucket", "arn:aws:s3:::checkpoints", {"StringLike": {"s3:prefix": ["*"]}}),
        ("s3:ListBucketMultipartUploads", "arn:aws:s3:::checkpoints", None),
    ]
