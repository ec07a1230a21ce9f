"""Endpoints that SageMaker hosts: roles in full, what no deployment changes, and templates that are taken."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cdk_nag import AwsSolutionsChecks
from pydantic import TypeAdapter
from syrupy.assertion import SnapshotAssertion

from fleet import naming
from fleet.rollout.facts import RolloutPlace
from stacks.constructs.serving import artifact_of
from stacks.platform import Platform
from tests.support.hosted_environment import FLEET, IMAGE, hosted
from tests.support.linting import errors
from tests.support.templates import StackTemplate, stage_of
from tests.support.watching import flatten

ENDPOINT = f"neuron-fleet-hosted-{FLEET}"
ACCOUNT = "us-east-2:111122223333"
OWN = ("hosted-models", "hosted-endpoints")


@cache
def synthesized(changes: str = "{}") -> tuple[Platform, dict[str, StackTemplate]]:
    platform = stage_of(hosted(**json.loads(changes)))
    return platform, {
        each.hierarchical_id.rpartition("/")[2]: StackTemplate(
            each.stack_name, Path(each.template_full_path), each.template
        )
        for each in platform.synth().stacks
    }


def templates(**changes: Any) -> dict[str, StackTemplate]:
    return synthesized(json.dumps(changes))[1]


def one(stack: str, kind: str, under: str = "") -> dict[str, Any]:
    return templates()[stack].resource(kind, under).properties


def allowed(stack: str, under: str) -> list[tuple[list[str], list[str], Any]]:
    policy = one(stack, "AWS::IAM::Policy", under)
    return [
        (sorted(_many(s["Action"])), sorted(_subject(r) for r in _many(s["Resource"])), s.get("Condition"))
        for s in policy["PolicyDocument"]["Statement"]
    ]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _subject(resource: Any) -> str:
    text = resource if isinstance(resource, str) else flatten(resource)
    for part, name in (
        ("Unhandled", "queue"), ("Records", "table"), ("FunctionLogs", "log"), ("hostedchatLogs", "log"),
        ("hostedchatRole", "model's role"), ("hostedchatKey", "key"), ("hostedchatGroup", "group"),
        ("PublicSubnet", "public subnet"), ("NodesSubnet", "subnet"),
    ):  # fmt: skip
        if part in text:
            return name
    return text.replace("<AWS::Partition>", "aws")


@pytest.mark.parametrize("stack", [*OWN, "rollout"])
def test_the_template_is_as_reviewed(stack: str, template_snapshot: SnapshotAssertion) -> None:
    assert templates()[stack].body == template_snapshot


def test_security_checks_find_nothing_unacknowledged() -> None:
    stage = synthesized()[0]
    violations = AwsSolutionsChecks(stage).validate_scope(stage).violations

    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


def test_cloudformation_would_accept_every_template() -> None:
    for template in (each for each in templates().values() if "Resources" in each.body):
        assert errors(template.file.read_text(encoding="utf-8")) == []


def test_a_model_may_be_pulled_logged_and_given_a_network_and_read_its_graphs() -> None:
    artifact = artifact_of(hosted().hosted_fleets[0])
    bucket = naming.artifact_bucket("hosted", "111122223333", "us-east-2")
    assert artifact is not None
    assert allowed("hosted-models", f"{FLEET}/Role") == [
        (
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            [f"arn:aws:ecr:{ACCOUNT}:repository/chat"],
            None,
        ),
        (
            [
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
                "ecr:GetAuthorizationToken",
            ],
            ["*"],
            None,
        ),
        (["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"], ["log"], None),
        (
            ["ec2:CreateNetworkInterface"],
            [f"arn:aws:ec2:{ACCOUNT}:network-interface/*", "group", "subnet", "subnet", "subnet"],
            None,
        ),
        (
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            [f"arn:aws:ec2:{ACCOUNT}:network-interface/*"],
            None,
        ),
        (["s3:GetObject"], [f"arn:aws:s3:::{bucket}/{artifact.prefix}/*"], None),
    ]


def test_the_function_may_change_its_endpoints_and_nothing_else() -> None:
    endpoint = f"arn:aws:sagemaker:{ACCOUNT}:endpoint/{ENDPOINT}"
    configurations = f"arn:aws:sagemaker:{ACCOUNT}:endpoint-config/{ENDPOINT}-*"
    by_image = f"arn:aws:sagemaker:{ACCOUNT}:model/{ENDPOINT}-by-image-*"
    parameter = f"arn:aws:ssm:{ACCOUNT}:parameter/neuron-fleet/hosted"

    found = allowed("rollout", "Function/Role")
    assert found[:3] == [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["log"], None),
        (["sqs:SendMessage"], ["queue"], None),
        (["dynamodb:GetItem", "dynamodb:PutItem"], ["table"], None),
    ]
    # The store, the executions and what CloudWatch knows are those of every rollout.
    assert [actions for actions, _, _ in found[3:9]] == [
        ["ssm:GetParameter"],
        ["s3:GetObject"],
        ["s3:ListBucket"],
        ["states:StartExecution"],
        ["states:DescribeExecution"],
        ["application-autoscaling:DescribeScalableTargets", "cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData"],
    ]
    assert found[9:] == [
        (["sagemaker:DescribeEndpoint", "sagemaker:UpdateEndpointWeightsAndCapacities"], [endpoint], None),
        (["sagemaker:UpdateEndpoint"], [configurations, endpoint], None),
        (["sagemaker:CreateEndpointConfig", "sagemaker:DescribeEndpointConfig"], [configurations], None),
        (["sagemaker:CreateModel"], [by_image], None),
        (["sagemaker:AddTags"], [configurations, by_image], None),
        (["iam:PassRole"], ["model's role"], {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}),
        (["kms:CreateGrant"], ["key"], {"Bool": {"kms:GrantIsForAWSResource": "true"}}),
        (["kms:DescribeKey"], ["key"], None),
        (
            ["application-autoscaling:RegisterScalableTarget"],
            [f"arn:aws:application-autoscaling:{ACCOUNT}:scalable-target/*"],
            {
                "StringEquals": {
                    "application-autoscaling:scalable-dimension": "sagemaker:variant:DesiredInstanceCount",
                    "application-autoscaling:service-namespace": "sagemaker",
                }
            },
        ),
    ]
    # One statement, because both are of reading parameters.
    assert found[3][1] == [
        f"{parameter}/compile-cache", f"{parameter}/declared-model/{FLEET}/1", f"{parameter}/rollout/{FLEET}"
    ]  # fmt: skip


def test_another_image_in_the_file_changes_what_is_declared_and_nothing_that_serves() -> None:
    other = f"111122223333.dkr.ecr.us-east-2.amazonaws.com/{IMAGE.replace('13b', '70b').replace('3f', '4e')}"
    before, after = templates(), templates(container_image=other, loading_minutes=20, batch_sizes=[1, 8])

    assert before["hosted-endpoints"].body == after["hosted-endpoints"].body
    models = before["hosted-models"].body["Resources"], after["hosted-models"].body["Resources"]
    differing = {models[0][key]["Type"] for key in models[0] if models[0][key] != models[1][key]}
    assert differing == {"AWS::SageMaker::Model", "AWS::IAM::Policy"}


def test_the_model_that_serves_outlives_the_one_that_is_declared() -> None:
    model = templates()["hosted-models"].resource("AWS::SageMaker::Model")

    assert model.body["UpdateReplacePolicy"] == "Retain"
    # With a name of its own, a model that the file goes back to could not be made again.
    assert "ModelName" not in model.properties
    (declared,) = templates()["hosted-models"].resources("AWS::SSM::Parameter")
    assert declared.properties["Value"]["Fn::GetAtt"][1] == "ModelName"


def test_the_endpoint_is_created_with_the_first_model_that_was_declared() -> None:
    configuration = one("hosted-endpoints", "AWS::SageMaker::EndpointConfig")
    (variant,) = configuration["ProductionVariants"]

    assert variant["ModelName"] == f"{{{{resolve:ssm:/neuron-fleet/hosted/declared-model/{FLEET}/1:1}}}}"
    assert (variant["VariantName"], variant["InstanceType"]) == ("stable", "ml.inf2.48xlarge")
    assert configuration["EndpointConfigName"] == f"{ENDPOINT}-first-1"
    assert "hostedchatKey" in flatten(configuration["KmsKeyId"])
    assert one("hosted-endpoints", "AWS::SageMaker::Endpoint")["EndpointName"] == ENDPOINT


def test_another_generation_serves_what_the_file_declares_with_as_many_instances() -> None:
    body = templates(sagemaker_generation=2)["hosted-endpoints"]
    configuration = body.resource("AWS::SageMaker::EndpointConfig").properties

    assert configuration["EndpointConfigName"] == f"{ENDPOINT}-first-2"
    # The first version of another parameter: what is declared when it is deployed.
    assert configuration["ProductionVariants"][0]["ModelName"].endswith(f"/{FLEET}/2:1}}}}")
    assert body.resource("AWS::SageMaker::Endpoint").properties["RetainAllVariantProperties"] is True


def test_a_model_runs_by_digest_in_private_subnets_and_is_reached_by_nobody() -> None:
    model = one("hosted-models", "AWS::SageMaker::Model")
    group = one("hosted-models", "AWS::EC2::SecurityGroup")

    image = model["PrimaryContainer"]["Image"]
    assert image == f"111122223333.dkr.ecr.us-east-2.amazonaws.com/chat@sha256:{'3f' * 32}"
    assert len(model["VpcConfig"]["Subnets"]) == 3
    assert all("NodesSubnet" in flatten(subnet) for subnet in model["VpcConfig"]["Subnets"])
    assert "SecurityGroupIngress" not in group
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupEgress"]] == [(443, 443)]
    assert model["PrimaryContainer"]["Environment"]["NEURON_FLEET_CACHE_ON_MISS"] == "refuse"


@pytest.mark.parametrize(("artifact", "isolated"), [({"model": "m", "version": "r1"}, False), (None, True)])
def test_a_model_without_graphs_to_fetch_has_no_network(artifact: dict[str, str] | None, isolated: bool) -> None:
    model = templates(artifact=artifact)["hosted-models"].resource("AWS::SageMaker::Model").properties

    assert model["EnableNetworkIsolation"] is isolated


def test_it_scales_by_invocations_within_what_the_file_says() -> None:
    target = one("hosted-endpoints", "AWS::ApplicationAutoScaling::ScalableTarget")
    policy = one("hosted-endpoints", "AWS::ApplicationAutoScaling::ScalingPolicy")

    assert (target["MinCapacity"], target["MaxCapacity"]) == (2, 8)
    assert target["ResourceId"] == f"endpoint/{ENDPOINT}/variant/stable"
    # A rollout suspends it; said here, the next deployment would resume it in its middle.
    assert "SuspendedState" not in target
    tracking = policy["TargetTrackingScalingPolicyConfiguration"]
    assert tracking["TargetValue"] == 240
    assert tracking["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
    }


def test_without_settings_it_keeps_the_fleets_nodes() -> None:
    stack = templates(sagemaker=None)["hosted-endpoints"]
    target = stack.resource("AWS::ApplicationAutoScaling::ScalableTarget").properties

    assert (target["MinCapacity"], target["MaxCapacity"]) == (4, 4)
    assert stack.resources("AWS::ApplicationAutoScaling::ScalingPolicy") == []


def test_where_it_is_served_can_be_read() -> None:
    (parameter,) = templates()["rollout"].resources("AWS::SSM::Parameter")
    place = TypeAdapter(RolloutPlace).validate_json(flatten(parameter.properties["Value"]))

    assert place.hosted is not None
    assert (place.fleet, place.hosted.endpoint) == (FLEET, ENDPOINT)
    assert (place.stable.service, place.candidate.service) == ("stable", "candidate")
    # Nobody measures them: left on, no version would ever be good.
    assert (place.plan.gates.runtime_errors, place.plan.gates.cost_increase_percent) == (None, None)
    assert len(parameter.properties["Value"]) < 4096
    assert place.hosted.model["PrimaryContainer"]["Image"].endswith("3f" * 32)


def test_nobody_launches_nodes_for_it() -> None:
    kinds = {r["Type"] for stack in templates().values() for r in stack.body.get("Resources", {}).values()}

    assert not {k for k in kinds if k.startswith(("AWS::ECS::", "AWS::AutoScaling::"))} - {"AWS::ECS::Cluster"}
    assert "AWS::EC2::LaunchTemplate" not in kinds


def test_the_price_is_said_at_synthesis() -> None:
    stack = synthesized()[0].hosted_models
    assert stack is not None
    found = [each for each in stack.node.find_all() if each.node.id == FLEET]
    texts = [entry.data for construct in found for entry in construct.node.metadata if entry.type == "aws:cdk:info"]

    # Nobody has published one for us-east-2 in what is embedded: it is not taken from another region.
    assert any("the price of ml.inf2.48xlarge in us-east-2 is not known" in text for text in texts), texts
