"""Pools: what their controller may do in full, how nodes are launched and drained, and what a job's container is."""

import json
from functools import cache
from typing import Any

import yaml
from cdk_nag import AwsSolutionsChecks
from pydantic import TypeAdapter

from environments import loader
from environments.model import Environment
from fleet import naming
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.pool.observed import PoolDeployment
from stacks.constructs.python_function import ROOT
from stacks.platform import Platform
from stacks.pools import CONTROLLER
from tests.support.templates import StackTemplate, stage_of, templates
from tests.support.watching import flatten

FLEET = "trn1-spot"
ARN = "arn:aws:{}:us-east-2:111122224444:{}"
CLUSTER = ARN.format("ecs", "cluster/neuron-fleet-staging-trn1-spot")
GROUP = ARN.format("autoscaling", "autoScalingGroup:*:autoScalingGroupName/neuron-fleet-staging-trn1-spot-pool")
Body = dict[str, Any]


def training() -> StackTemplate:
    return templates("staging")["training"]


def pools() -> StackTemplate:
    return templates("staging")["pools"]


@cache
def changed(changes: str) -> tuple[Platform, dict[str, Body]]:
    """Staging with its pool changed, given as JSON."""
    content = yaml.safe_load((loader.FOLDER / "staging.yaml").read_text(encoding="utf-8"))
    content["fleets"] = [{**f, **json.loads(changes)} if f["name"] == FLEET else f for f in content["fleets"]]
    content["fleets"] = [{k: v for k, v in f.items() if v is not None} for f in content["fleets"]]
    platform = stage_of(Environment.model_validate(content))
    stacks = platform.synth().stacks
    return platform, {each.hierarchical_id.rpartition("/")[2]: each.template for each in stacks}


def of_kind(body: Body, kind: str) -> list[Body]:
    return [each.get("Properties", {}) for each in body["Resources"].values() if each["Type"] == kind]


def statements(policy: Body) -> list[tuple[list[str], list[str], Any]]:
    found = policy["PolicyDocument"]["Statement"]
    assert {each["Effect"] for each in found} == {"Allow"}
    return [
        (sorted(_many(s["Action"])), [_subject(r) for r in _many(s["Resource"])], s.get("Condition")) for s in found
    ]


def _start(subject: str) -> str:
    """An ARN as it is, and of a name that CloudFormation makes up what does not change."""
    return subject if subject.startswith("arn:") else subject[:5]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _subject(resource: Any) -> str:
    if isinstance(resource, str):
        return resource
    elsewhere = resource.get("Fn::GetStackOutput", {"OutputName": json.dumps(resource)})
    name = resource.get("Fn::GetAtt", [""])[0] or elsewhere["OutputName"]
    return str(name.removeprefix("PublishOutputFnGetAtt"))[:30]


def test_the_controller_may_touch_its_own_groups_clusters_and_jobs_and_nothing_else() -> None:
    in_cluster = {"ArnEquals": {"ecs:cluster": [CLUSTER]}}
    assert statements(pools().resource("AWS::IAM::Policy").properties) == [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["ControllerLogs3D12D7C7"], None),
        (["sqs:SendMessage"], ["Unhandled7BBE8414"], None),
        (["dynamodb:Query", "dynamodb:UpdateItem"], ["JobsDF1CC2D4"], None),
        (["ssm:GetParameters"], [ARN.format("ssm", "parameter/neuron-fleet/staging/jobs/trn1-spot")], None),
        (["autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances"], ["*"], None),
        (["ecs:ListTasks"], ["*"], in_cluster),
        (
            [
                "autoscaling:CompleteLifecycleAction",
                "autoscaling:SetDesiredCapacity",
                "autoscaling:SetInstanceHealth",
                "autoscaling:TerminateInstanceInAutoScalingGroup",
            ],
            [GROUP],
            None,
        ),
        (["ecs:ListContainerInstances"], [CLUSTER], None),
        (
            ["ecs:DescribeContainerInstances"],
            [ARN.format("ecs", "container-instance/neuron-fleet-staging-trn1-spot/*")],
            None,
        ),
        (["ecs:DescribeTasks", "ecs:StopTask"], [ARN.format("ecs", "task/neuron-fleet-staging-trn1-spot/*")], None),
        (
            ["ecs:StartTask"],
            [
                ARN.format("ecs", f"task-definition/neuron-fleet-staging-trn1-spot-{name}-32xlarge:*")
                for name in ("trn1", "trn1n")
            ],
            in_cluster,
        ),
        (
            ["iam:PassRole"],
            ["trn1spotJobExecutionRole8FCD03", "trn1spotJobJobRole20766405ArnC"],
            {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
        ),
    ]
    assert "ManagedPolicyArns" not in pools().resource("AWS::IAM::Role").properties


def test_a_jobs_container_may_mount_the_cache_and_be_pulled_and_log_and_nothing_else() -> None:
    job = statements(training().resource("AWS::IAM::Policy", f"{FLEET}/Job/JobRole").properties)
    artifacts = f"arn:aws:s3:::{naming.artifact_bucket('staging', '111122224444', 'us-east-2')}/neuron-artifacts/*"
    assert [(actions, [_start(each) for each in of], list(condition or {})) for actions, of, condition in job] == [
        (["elasticfilesystem:ClientMount"], ["Files"], ["StringEquals"]),
        (["dynamodb:GetItem"], ["Lease"], []),
        (["s3:GetObject"], [artifacts], []),
    ]
    starts = statements(training().resource("AWS::IAM::Policy", f"{FLEET}/Job/ExecutionRole").properties)
    assert starts == [
        (
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            [ARN.format("ecr", "repository/training")],
            None,
        ),
        (["ecr:GetAuthorizationToken"], ["*"], None),
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["JobLogs4F84869B"], None),
    ]


def test_a_spot_pool_is_launched_from_the_fleets_template_and_asks_for_no_node() -> None:
    group = training().resource("AWS::AutoScaling::AutoScalingGroup", FLEET).properties
    assert (group["MinSize"], group["MaxSize"], group.get("DesiredCapacity")) == ("0", "4", None)
    assert group["CapacityRebalance"] is True
    assert group["NewInstancesProtectedFromScaleIn"] is True
    assert "LaunchTemplate" not in group
    policy = group["MixedInstancesPolicy"]
    assert policy["InstancesDistribution"] == {
        "OnDemandBaseCapacity": 0,
        "OnDemandPercentageAboveBaseCapacity": 0,
        "OnDemandAllocationStrategy": "prioritized",
        "SpotAllocationStrategy": "capacity-optimized-prioritized",
    }
    types = policy["LaunchTemplate"]["Overrides"]
    assert [each["InstanceType"] for each in types] == ["trn1.32xlarge", "trn1n.32xlarge"]
    assert "LaunchTemplateSpecification" in types[1]


def test_each_type_of_a_pool_has_its_own_network_cards_devices_and_agent_and_none_names_its_market() -> None:
    capacity = templates("staging")["capacity"]
    launches = {
        each.properties["LaunchTemplateData"]["InstanceType"]: each.properties["LaunchTemplateData"]
        for each in capacity.resources("AWS::EC2::LaunchTemplate", f"{FLEET}/")
    }
    cards = {name: len(data["NetworkInterfaces"]) for name, data in launches.items()}
    assert cards == {"trn1.32xlarge": 8, "trn1n.32xlarge": 16}
    assert not any("InstanceMarketOptions" in data for data in launches.values())
    definitions = {
        each.properties["Family"].rpartition("trn1-spot-")[2]: each.properties["ContainerDefinitions"][0]
        for each in training().resources("AWS::ECS::TaskDefinition", FLEET)
    }
    for name, count in cards.items():
        paths = [d["HostPath"] for d in definitions[name.replace(".", "-")]["LinuxParameters"]["Devices"]]
        assert sum(path.startswith("/dev/infiniband/") for path in paths) == count
        assert sum(path.startswith("/dev/neuron") for path in paths) == 16
    agents = [
        json.loads(each.properties["Value"]) for each in capacity.resources("AWS::SSM::Parameter", f"{FLEET}/Agent")
    ]
    assert {each["instance_type"]: each["gate"]["efa_interfaces"] for each in agents} == cards
    assert len({each["price"]["usd_per_hour"] for each in agents}) == 2


def test_a_node_that_is_ended_waits_until_its_job_has_saved_and_not_for_ever() -> None:
    hook = training().resource("AWS::AutoScaling::LifecycleHook").properties
    assert hook["LifecycleTransition"] == "autoscaling:EC2_INSTANCE_TERMINATING"
    assert (hook["LifecycleHookName"], hook["DefaultResult"]) == ("drain", "CONTINUE")
    # Ten minutes to save, and three in which it is seen.
    assert hook["HeartbeatTimeout"] == 13 * 60


def test_a_pools_nodes_join_its_cluster_with_the_time_to_save_and_drain_at_a_notice() -> None:
    template = templates("staging")["capacity"].resource("AWS::EC2::LaunchTemplate", f"{FLEET}/Launch/")
    data = flatten(template.properties["LaunchTemplateData"]["UserData"]["Fn::Base64"])
    for line in (
        "ECS_CLUSTER=neuron-fleet-staging-trn1-spot",
        "ECS_CONTAINER_STOP_TIMEOUT=10m",
        "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true",
    ):
        assert f"echo {line} >> /etc/ecs/ecs.config" in data
    role = templates("staging")["capacity"].resource("AWS::IAM::Policy", f"{FLEET}/Node/Role").properties
    registering = next(s for s in statements(role) if "ecs:RegisterContainerInstance" in s[0])
    assert registering[1] == [CLUSTER]


def test_each_type_of_a_pool_counts_at_its_own_price_and_may_read_it() -> None:
    capacity = templates("staging")["capacity"]
    told = [json.loads(each.properties["Value"]) for each in capacity.resources("AWS::SSM::Parameter")
            if "/agents/trn1-spot" in each.properties.get("Name", "")]  # fmt: skip
    items = {each["instance_type"]: each["price_table"]["id"] for each in told}
    assert items == {name: f"us-east-2/{name}/spot" for name in ("trn1.32xlarge", "trn1n.32xlarge")}
    role = capacity.resource("AWS::IAM::Policy", f"{FLEET}/Node/Role").properties
    (reading,) = [s for s in role["PolicyDocument"]["Statement"] if s["Action"] == "dynamodb:GetItem"]
    assert reading["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": list(items.values())}}


def test_containers_are_the_hosts_and_see_what_those_on_batch_see() -> None:
    task = training().resource("AWS::ECS::TaskDefinition", f"{FLEET}/Job/Task-trn1.32xlarge").properties
    (container,) = task["ContainerDefinitions"]
    assert (task["NetworkMode"], container["Name"]) == ("host", "training")
    assert container["Ulimits"] == [{"Name": "memlock", "SoftLimit": -1, "HardLimit": -1}]
    assert {m["ContainerPath"]: m["ReadOnly"] for m in container["MountPoints"]} == {
        LOCAL_FOLDER: False,
        "/run/neuron-fleet": True,
        "/mnt/neuron-compile-cache": True,
    }
    shared = next(each for each in task["Volumes"] if each["Name"] == "shared-cache")["EFSVolumeConfiguration"]
    assert shared["TransitEncryption"] == "ENABLED"
    assert shared["AuthorizationConfig"]["IAM"] == "ENABLED"


def test_the_controller_is_told_of_its_pools_and_woken_by_them() -> None:
    function = pools().resource("AWS::Lambda::Function").properties
    assert flatten(function["Environment"]["Variables"]["FLEETS"]) == '["trn1-spot"]'
    assert (ROOT / f"{CONTROLLER.rpartition('.')[0].replace('.', '/')}.py").is_file()
    patterns = [
        each.properties.get("EventPattern", {}).get("detail") for each in pools().resources("AWS::Events::Rule")
    ]
    assert patterns == [
        None,
        {"clusterArn": [CLUSTER], "lastStatus": ["STOPPED"]},
        {"AutoScalingGroupName": ["neuron-fleet-staging-trn1-spot-pool"]},
    ]
    filtered = pools().resource("AWS::Logs::SubscriptionFilter").properties
    assert filtered["FilterPattern"] == '{ $.state = "FAULT" }'
    place = training().resource("AWS::SSM::Parameter", f"{FLEET}/Place").properties["Value"]
    told = TypeAdapter(PoolDeployment).validate_json(flatten(place))
    assert (told.nodes, told.keeps_nodes, told.replace_at_once, told.attempts) == (4, False, 1, 20)
    assert set(told.definitions) == {"trn1.32xlarge", "trn1n.32xlarge"}


def test_a_reserved_pool_is_kept_by_the_capacity_watch_and_launched_from_one_template() -> None:
    settings = {"market": {"kind": "reservation"}, "alternative_types": None}
    platform, bodies = changed(json.dumps(settings))
    (group,) = [
        each
        for each in of_kind(bodies["training"], "AWS::AutoScaling::AutoScalingGroup")
        if each["AutoScalingGroupName"].endswith("trn1-spot-pool")
    ]
    assert "MixedInstancesPolicy" not in group
    assert group["CapacityRebalance"] is False
    (watch,) = of_kind(bodies["capacity-watch"], "AWS::IAM::Policy")
    assert (["autoscaling:SetDesiredCapacity"], [GROUP], None) in statements(watch)
    violations = AwsSolutionsChecks(platform).validate_scope(platform).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


def test_an_environment_without_a_pool_has_nobody_to_look_after_one() -> None:
    assert "pools" not in templates("prod")
    assert "pools" not in templates("dev")
