"""The inference stack: who reaches an endpoint, what its tasks hold, and how a new version takes over."""

import re
from math import ceil
from typing import Any

import pytest

from environments.clients import Clients
from environments.fleets import InferenceFleet
from fleet import naming
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.instances import instance_type
from stacks.constructs.endpoint_service import STAYING_PERCENT, STAYING_PERCENT_OF_MORE
from stacks.constructs.endpoint_task import SCRATCH
from stacks.constructs.serving import RUNTIME_FOLDER, artifact_of
from tests.support.templates import platform
from tests.support.watching import ENVIRONMENTS, Watched, flatten, watched
from workload.compile_cache.flight.single_flight import OnMiss
from workload.serving import settings
from workload.serving.shadow import settings as shadow_settings

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


def test_an_endpoint_that_names_no_clients_is_reached_from_within_the_vpc_only(environment: Watched) -> None:
    assert endpoint(environment).endpoint.clients == Clients()
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
    (bucket,) = (b for b in environment.resources(STACK, "AWS::S3::Bucket") if "BucketName" not in b)

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_a_task_holds_its_devices_and_no_privilege(environment: Watched) -> None:
    found = container(environment)
    devices = [device["HostPath"] for device in found["LinuxParameters"]["Devices"]]

    assert devices == [f"/dev/neuron{index}" for index in range(endpoint(environment).endpoint.devices_per_task)]
    assert "Privileged" not in found
    assert found["ReadonlyRootFilesystem"] is True
    writable = [mount["ContainerPath"] for mount in found["MountPoints"] if not mount["ReadOnly"]]
    assert writable == [SCRATCH, LOCAL_FOLDER, RUNTIME_FOLDER]


def test_a_task_leaves_room_for_the_agents_of_its_node(environment: Watched) -> None:
    hardware = instance_type(endpoint(environment).instance_type)
    found = container(environment)

    assert found["Memory"] < hardware.memory_gib * 1024 * 0.95
    assert found["Cpu"] == (hardware.vcpus - 1) * 1024


def test_one_task_runs_on_every_node_there_is_and_a_deploy_waits_for_none(environment: Watched) -> None:
    service = one(environment, "AWS::ECS::Service")

    assert (service["SchedulingStrategy"], service["LaunchType"]) == ("DAEMON", "EC2")
    # ECS refuses each of these beside DAEMON.
    refused = {"DesiredCount", "CapacityProviderStrategy", "PlacementStrategies", "PlacementConstraints"}
    assert not refused & service.keys()


def test_a_cluster_of_daemons_has_no_default_strategy(environment: Watched) -> None:
    association = one(environment, "AWS::ECS::ClusterCapacityProviderAssociations")

    assert association["DefaultCapacityProviderStrategy"] == []
    assert len(association["CapacityProviders"]) == 1


@pytest.mark.parametrize(("name", "healthy"), [("prod", 66), ("local", 50), ("dev", 0)])
def test_a_new_version_takes_over_node_by_node_and_rolls_back(name: str, healthy: int) -> None:
    deployment = one(watched(name), "AWS::ECS::Service")["DeploymentConfiguration"]

    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (healthy, 100)
    assert deployment["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}


@pytest.mark.parametrize(
    ("wanted", "there", "stopped_at_once"),
    # ECS rounds up what must stay: of 4, 2.64 and so 3; of 3, 1.98 and so 2; of 2, 1.32 and so both.
    [(1, 1, 1), (2, 2, 1), (2, 1, 0), (3, 3, 1), (4, 4, 1), (4, 3, 1), (4, 2, 0), (5, 5, 1), (16, 16, 5), (16, 3, 1)],
)
def test_a_new_version_takes_over_with_a_node_missing_too(wanted: int, there: int, stopped_at_once: int) -> None:
    stay = ceil(there * STAYING_PERCENT.get(wanted, STAYING_PERCENT_OF_MORE) / 100)

    assert there - stay == stopped_at_once


def test_a_task_has_time_to_compile_before_it_is_judged(environment: Watched) -> None:
    assert one(environment, "AWS::ECS::Service")["HealthCheckGracePeriodSeconds"] == 40 * 60


def test_targets_are_asked_at_the_health_path(environment: Watched) -> None:
    assert (
        one(environment, "AWS::ElasticLoadBalancingV2::TargetGroup")["HealthCheckPath"]
        == endpoint(environment).endpoint.health_path
    )


def test_a_fleet_is_deployed_without_a_node_and_then_asks_for_all_or_the_least(environment: Watched) -> None:
    fleet = endpoint(environment)
    group = one(environment, "AWS::AutoScaling::AutoScalingGroup")
    action = one(environment, "AWS::AutoScaling::ScheduledAction")

    assert (group["MinSize"], group["MaxSize"]) == ("0", str(fleet.nodes))
    # A number here would be what CloudFormation waits for, and what every deploy sets again.
    assert "DesiredCapacity" not in group
    asked = {"MinSize": fleet.scaling.least} if fleet.scaling else {"DesiredCapacity": fleet.nodes}
    sizes_and_times = ("MinSize", "MaxSize", "DesiredCapacity", "StartTime", "EndTime")
    assert {key: action[key] for key in sizes_and_times if key in action} == asked
    assert action["Recurrence"] == "*/5 * * * *"


def test_a_later_deploy_takes_no_node_away(environment: Watched) -> None:
    (group,) = (
        resource
        for resource in environment.templates[STACK]["Resources"].values()
        if resource["Type"] == "AWS::AutoScaling::AutoScalingGroup"
    )

    assert group["UpdatePolicy"] == {"AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": True}}


def test_nodes_come_up_in_zones_that_offer_them(environment: Watched) -> None:
    fleet, zones = endpoint(environment), environment.environment.network.availability_zones
    group = one(environment, "AWS::AutoScaling::AutoScalingGroup")

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


def test_nodes_go_before_the_cluster_that_they_are_in(environment: Watched) -> None:
    resources = environment.templates[STACK]["Resources"]
    (cluster,) = (key for key, resource in resources.items() if resource["Type"] == "AWS::ECS::Cluster")
    (group,) = (each for each in resources.values() if each["Type"] == "AWS::AutoScaling::AutoScalingGroup")

    assert cluster in group["DependsOn"]


def test_a_private_image_may_be_pulled_from_its_own_repository_only() -> None:
    policies = watched("prod").resources(STACK, "AWS::IAM::Policy")
    pulls = [
        statement["Resource"]
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]

    assert pulls == ["arn:aws:ecr:us-east-2:111122223333:repository/chat"]


def test_a_task_may_read_its_own_compiled_graphs_and_use_its_own_samples_and_nothing_else(environment: Watched) -> None:
    policies = [
        (policy["PolicyDocument"]["Statement"], flatten(role))
        for policy in environment.resources(STACK, "AWS::IAM::Policy")
        for role in policy["Roles"]
    ]
    fleet, told = endpoint(environment), environment.environment
    artifact = artifact_of(fleet)
    bucket = naming.artifact_bucket(told.name, told.account, told.region)
    graphs = [] if artifact is None else [("s3:GetObject", f"arn:aws:s3:::{bucket}/{artifact.prefix}/*", None)]
    shadow = f"arn:aws:s3:::{naming.shadow_bucket(told.name, told.account, told.region)}"
    samples = f"{shadow}/samples/{fleet.name}/*"
    listed = {"StringEquals": {"s3:prefix": f"samples/{fleet.name}/"}}
    recorded = [
        ("s3:PutObject", samples, None),
        ("s3:PutObject", f"{shadow}/reports/{fleet.name}/*", None),
        ("s3:GetObject", samples, None),
        ("s3:ListBucket", shadow, listed),
    ]

    # CDK puts resources of one action together.
    found = [
        (each["Action"], resource, each.get("Condition"))
        for statements, role in policies
        if "ExecutionRole" not in role
        for each in statements
        for resource in (each["Resource"] if isinstance(each["Resource"], list) else [each["Resource"]])
    ]
    expected = graphs + (recorded if fleet.endpoint.rollout.shadow else [])
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_what_a_task_is_told_of_recorded_requests_is_what_it_reads(environment: Watched) -> None:
    fleet, named = endpoint(environment), environment.environment
    told = {item["Name"]: item["Value"] for item in container(environment)["Environment"]}
    # The ECS agent's own.
    read = shadow_settings.read({**told, shadow_settings.METADATA: "http://169.254.170.2/v4/1"})
    shadow = fleet.endpoint.rollout.shadow
    if shadow is None:
        assert read is None
        return
    assert read is not None
    assert read.bucket == naming.shadow_bucket(named.name, named.account, named.region)
    assert (read.fleet, read.region) == (fleet.name, named.region)
    assert read.candidates == naming.candidate_cluster_name(named.name, fleet.name)
    assert (read.percent, read.min_requests, read.cosine) == (shadow.sample_percent, shadow.min_requests, shadow.cosine)


def test_recorded_requests_are_nobodys_else_and_end(environment: Watched) -> None:
    fleet, named = endpoint(environment), environment.environment
    name = naming.shadow_bucket(named.name, named.account, named.region)
    (bucket,) = (b for b in environment.resources(STACK, "AWS::S3::Bucket") if b.get("BucketName") == name)

    assert bucket["BucketEncryption"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert "VersioningConfiguration" not in bucket
    ends = {r["Prefix"]: r["ExpirationInDays"] for r in bucket["LifecycleConfiguration"]["Rules"] if "Prefix" in r}
    shadow = fleet.endpoint.rollout.shadow
    expected = {f"samples/{fleet.name}/": shadow.keep_days, f"reports/{fleet.name}/": 90} if shadow else {}
    assert ends == expected
    refused = [
        statement
        for policy in environment.resources(STACK, "AWS::S3::BucketPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    assert len(refused) == 2, "that of the access logs, and this one"


def test_what_a_task_is_told_is_what_a_server_reads(environment: Watched) -> None:
    fleet = endpoint(environment)
    told = {item["Name"]: item["Value"] for item in container(environment)["Environment"]}
    read = settings.read(told)

    assert (read.buckets.lengths, read.buckets.batch_sizes) == (
        fleet.endpoint.sequence_lengths,
        fleet.endpoint.batch_sizes,
    )
    assert read.cores == fleet.endpoint.devices_per_task * read.cores_per_device
    assert read.artifact == artifact_of(fleet)
    assert str(read.folder) == RUNTIME_FOLDER
    assert told["NEURON_FLEET_CACHE_ON_MISS"] == OnMiss.REFUSE.value


def test_ecs_asks_for_life_and_the_load_balancer_for_readiness(environment: Watched) -> None:
    fleet, check = endpoint(environment).endpoint, container(environment)["HealthCheck"]

    assert f"http://127.0.0.1:{fleet.port}/healthz/live" in check["Command"][-1]
    assert (check["Interval"], check["Timeout"], check["Retries"], check["StartPeriod"]) == (15, 5, 3, 300)
    (targets,) = environment.resources(STACK, "AWS::ElasticLoadBalancingV2::TargetGroup")
    assert targets["HealthCheckPath"] == "/healthz/ready"


def test_an_image_outside_of_a_laptop_is_known_by_its_digest(environment: Watched) -> None:
    image = flatten(container(environment)["Image"])

    assert ("@sha256:" in image) is not environment.environment.plain_http
    assert not re.search(r":[^/]+@", image)
