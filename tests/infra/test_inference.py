"""The inference stack: who reaches an endpoint, what its tasks hold, and how a new version takes over."""

from typing import Any

import pytest

from environments.model import InferenceFleet
from fleet.instances import instance_type
from stacks.constructs.endpoint_task import SCRATCH
from tests.support.templates import platform
from tests.support.watching import ENVIRONMENTS, Watched, flatten, watched

STACK = "inference"


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def endpoint(of: Watched) -> InferenceFleet:
    (fleet,) = of.environment.inference_fleets
    return fleet


def one(of: Watched, kind: str) -> dict[str, Any]:
    (found,) = of.resources(STACK, kind)
    return found


def attributes(resource: dict[str, Any], key: str) -> dict[str, Any]:
    return {item["Key"]: item["Value"] for item in resource[key]}


def container(of: Watched) -> dict[str, Any]:
    (definition,) = one(of, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    found: dict[str, Any] = definition
    return found


def test_the_endpoint_is_reached_from_within_the_vpc_only(environment: Watched) -> None:
    balancer = one(environment, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    ingress = [
        rule
        for group in environment.resources(STACK, "AWS::EC2::SecurityGroup")
        for rule in group.get("SecurityGroupIngress", [])
    ]

    assert balancer["Scheme"] == "internal"
    assert [rule["CidrIp"] for rule in ingress] == [str(environment.environment.network.cidr)]


def test_only_the_load_balancer_reaches_the_tasks(environment: Watched) -> None:
    (rule,) = environment.resources(STACK, "AWS::EC2::SecurityGroupIngress")

    assert "balancer" in flatten(rule["SourceSecurityGroupId"])
    assert "service" in flatten(rule["GroupId"])
    assert rule["FromPort"] == rule["ToPort"] == endpoint(environment).endpoint.port


def test_requests_are_encrypted_unless_the_environment_allows_plain_http(environment: Watched) -> None:
    listener = one(environment, "AWS::ElasticLoadBalancingV2::Listener")

    if environment.environment.plain_http:
        assert (listener["Protocol"], listener["Port"]) == ("HTTP", 80)
    else:
        assert (listener["Protocol"], listener["Port"]) == ("HTTPS", 443)
        assert listener["Certificates"] == [{"CertificateArn": endpoint(environment).endpoint.certificate_arn}]
        assert "TLS13" in listener["SslPolicy"]


def test_the_load_balancer_logs_requests_and_drops_broken_headers(environment: Watched) -> None:
    found = attributes(one(environment, "AWS::ElasticLoadBalancingV2::LoadBalancer"), "LoadBalancerAttributes")

    assert found["access_logs.s3.enabled"] == "true"
    assert found["routing.http.drop_invalid_header_fields.enabled"] == "true"
    # It would turn the rollback of a failed first deployment into one that fails as well.
    assert found["deletion_protection.enabled"] == "false"


def test_access_logs_are_private_and_encrypted(environment: Watched) -> None:
    bucket = one(environment, "AWS::S3::Bucket")

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_a_task_holds_its_devices_and_no_privilege(environment: Watched) -> None:
    found = container(environment)
    devices = [device["HostPath"] for device in found["LinuxParameters"]["Devices"]]

    assert devices == [f"/dev/neuron{index}" for index in range(endpoint(environment).endpoint.devices_per_task)]
    assert "Privileged" not in found
    assert found["ReadonlyRootFilesystem"] is True
    assert [mount["ContainerPath"] for mount in found["MountPoints"]] == [SCRATCH]


def test_a_task_leaves_room_for_the_agents_of_its_node(environment: Watched) -> None:
    hardware = instance_type(endpoint(environment).instance_type)
    found = container(environment)

    assert found["Memory"] < hardware.memory_gib * 1024 * 0.95
    assert found["Cpu"] == (hardware.vcpus - 1) * 1024


def test_one_task_runs_on_each_node(environment: Watched) -> None:
    service = one(environment, "AWS::ECS::Service")

    assert service["PlacementConstraints"] == [{"Type": "distinctInstance"}]
    assert service["DesiredCount"] == endpoint(environment).endpoint.tasks
    assert service["DesiredCount"] <= endpoint(environment).nodes


@pytest.mark.parametrize(("name", "healthy"), [("prod", 75), ("local", 50), ("dev", 0)])
def test_a_new_version_replaces_one_task_at_a_time_and_rolls_back(name: str, healthy: int) -> None:
    deployment = one(watched(name), "AWS::ECS::Service")["DeploymentConfiguration"]

    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (healthy, 100)
    assert deployment["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}


def test_a_task_has_time_to_compile_before_it_is_judged(environment: Watched) -> None:
    assert one(environment, "AWS::ECS::Service")["HealthCheckGracePeriodSeconds"] == 40 * 60


def test_targets_are_asked_at_the_health_path(environment: Watched) -> None:
    assert (
        one(environment, "AWS::ElasticLoadBalancingV2::TargetGroup")["HealthCheckPath"]
        == endpoint(environment).endpoint.health_path
    )


def test_the_fleet_keeps_its_number_of_nodes_in_zones_that_offer_them(environment: Watched) -> None:
    fleet, zones = endpoint(environment), environment.environment.network.availability_zones
    group = one(environment, "AWS::AutoScaling::AutoScalingGroup")

    assert group["MinSize"] == group["MaxSize"] == str(fleet.nodes)
    offered = instance_type(fleet.instance_type).availability_zone_ids & set(zones.values())
    assert len(group["VPCZoneIdentifier"]) == len(offered)


def test_a_new_launch_template_version_does_not_lock_the_capacity_stack(environment: Watched) -> None:
    template = one(environment, "AWS::AutoScaling::AutoScalingGroup")["LaunchTemplate"]

    assert set(template["Version"]) == {"Fn::GetStackOutput"}


def test_the_group_changes_with_its_launch_template_and_ecs_may_drain_it(environment: Watched) -> None:
    fleet = endpoint(environment)
    tags = {tag["Key"]: tag for tag in one(environment, "AWS::AutoScaling::AutoScalingGroup")["Tags"]}

    digest = platform(environment.environment.name).capacity.launch_digests[fleet.name]
    assert tags["launch-template"] == {"Key": "launch-template", "Value": digest, "PropagateAtLaunch": False}
    assert tags["AmazonECSManaged"]["PropagateAtLaunch"] is True
    assert tags["owner"]["Value"] == fleet.owner


def test_nodes_join_the_cluster_by_the_name_that_they_boot_with(environment: Watched) -> None:
    name = f"neuron-fleet-{environment.environment.name}-{endpoint(environment).name}"

    assert one(environment, "AWS::ECS::Cluster")["ClusterName"] == name


def test_a_private_image_may_be_pulled_from_its_own_repository_only() -> None:
    policies = watched("prod").resources(STACK, "AWS::IAM::Policy")
    pulls = [
        statement["Resource"]
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]

    assert pulls == ["arn:aws:ecr:us-east-2:111122223333:repository/chat"]


def test_a_task_may_call_no_aws_service(environment: Watched) -> None:
    roles = [flatten(role) for policy in environment.resources(STACK, "AWS::IAM::Policy") for role in policy["Roles"]]

    assert all("ExecutionRole" in role for role in roles)
