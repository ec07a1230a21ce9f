"""Rollouts of endpoints that SageMaker hosts: what the function may do of them, and where it reads what they are."""

from typing import Any, Final

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_iam as iam

from environments.fleets import InferenceFleet
from fleet import naming
from fleet.hosting.variants import CANDIDATE, STABLE
from stacks.constructs.hosted_model import HostedModel, declared_parameter
from stacks.constructs.serving import artifact_of

_NAMED: Final = "configurations and models are named by their endpoint and their content"
_UNNAMED: Final = {"load_balancer": "", "target_group": ""}


def allow_hosted(role: iam.Role, *, environment: str, models: dict[str, HostedModel]) -> None:
    """Give ``role`` what rollouts of the hosted endpoints do, by fleet name, and no more."""
    stack = Stack.of(role)
    for fleet, model in models.items():
        name = naming.hosted_endpoint(environment, fleet)
        endpoint, configurations = _arn(stack, "endpoint", name), _arn(stack, "endpoint-config", f"{name}-*")
        by_image = _arn(stack, "model", f"{name}-by-image-*")
        _allow(role, ["sagemaker:DescribeEndpoint", "sagemaker:UpdateEndpointWeightsAndCapacities"], [endpoint])
        _allow(role, ["sagemaker:UpdateEndpoint"], [endpoint, configurations])
        _allow(role, ["sagemaker:CreateEndpointConfig", "sagemaker:DescribeEndpointConfig"], [configurations])
        _allow(role, ["sagemaker:CreateModel"], [by_image])
        _allow(role, ["sagemaker:AddTags"], [configurations, by_image])
        to_sagemaker = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
        _allow(role, ["iam:PassRole"], [model.role.role_arn], to_sagemaker)
        # SageMaker API, CreateEndpointConfig: who updates an endpoint grants SageMaker the use of the volumes' key.
        for_aws = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        _allow(role, ["kms:CreateGrant"], [model.key.key_arn], for_aws)
        _allow(role, ["kms:DescribeKey"], [model.key.key_arn])
        declared = model.declared
        place = naming.rollout_place_parameter(environment, fleet)
        _allow(role, ["ssm:GetParameter"], [_parameter(stack, declared), _parameter(stack, place)])
        for resource in (configurations, by_image):
            _acknowledge(role, resource)
    _scaling(role, stack)


def _scaling(role: iam.Role, stack: Stack) -> None:
    of_sagemaker = {
        "StringEquals": {
            "application-autoscaling:service-namespace": "sagemaker",
            "application-autoscaling:scalable-dimension": "sagemaker:variant:DesiredInstanceCount",
        }
    }
    targets = stack.format_arn(
        service="application-autoscaling",
        resource="scalable-target",
        resource_name="*",
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )
    _allow(role, ["application-autoscaling:RegisterScalableTarget"], [targets], of_sagemaker)
    _allow(role, ["application-autoscaling:DescribeScalableTargets"], ["*"])
    Validations.of(role).acknowledge(
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::{targets}]",
            reason="a scalable target gets its id when it is registered; the condition names SageMaker's variants",
        )
    )


def hosted_place(environment: str, fleet: InferenceFleet, model: HostedModel) -> dict[str, Any]:
    """``fleet.rollout.facts.RolloutPlace`` as JSON."""
    name = naming.hosted_endpoint(environment, fleet.name)
    declared = declared_parameter(environment, fleet)
    plan = fleet.endpoint.rollout.model_dump(mode="json")
    # Nobody measures them there: left on, they would hold every rollout until it goes back.
    plan["gates"] |= {"runtime_errors": None, "cost_increase_percent": None}
    artifact = artifact_of(fleet)
    return {
        "environment": environment,
        "fleet": fleet.name,
        "nodes": fleet.nodes,
        "rule": "",
        "stable": _side(name, STABLE),
        "candidate": _side(name, CANDIDATE),
        "family": name,
        "container": "",
        "version_parameter": declared,
        "plan": plan,
        "artifact": artifact.prefix if artifact else "",
        # Also of one that always has its nodes: a deployment may tell its target another number at any time.
        "scales": True,
        "hosted": {
            "endpoint": name,
            "declared": declared,
            "model": model.request,
            "variant": model.variant,
            "key": model.key.key_arn,
            "tags": model.tags,
        },
    }


def _side(endpoint: str, variant: str) -> dict[str, Any]:
    return {"cluster": endpoint, "service": variant, "target_group": "", "group": "", "names": _UNNAMED}


def _arn(stack: Stack, kind: str, name: str) -> str:
    return stack.format_arn(
        service="sagemaker", resource=kind, resource_name=name, arn_format=ArnFormat.SLASH_RESOURCE_NAME
    )


def _parameter(stack: Stack, name: str) -> str:
    return stack.format_arn(service="ssm", resource="parameter", resource_name=name.removeprefix("/"))


def _allow(role: iam.Role, actions: list[str], on: list[str], when: dict[str, dict[str, str]] | None = None) -> None:
    role.add_to_policy(iam.PolicyStatement(actions=actions, resources=on, conditions=when))


def _acknowledge(role: iam.Role, resource: str) -> None:
    Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=_NAMED))
