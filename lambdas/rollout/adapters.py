"""AWS as rollouts see it: clients with their timeouts and retries. boto3 stays in this file."""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from pydantic import Field, TypeAdapter

from fleet import naming
from fleet.rollout.facts import HostedPlace, RolloutPlace
from lambdas.rollout.ecs import EcsServices, Listener, ScalingGroup
from lambdas.rollout.executions import StateMachine
from lambdas.rollout.figures import CloudWatchFigures, VariantFigures
from lambdas.rollout.objects import ArtifactStore, ShadowReports
from lambdas.rollout.ports import Dependencies
from lambdas.rollout.sagemaker.sides import CandidateInstances, Models, VariantWeights
from lambdas.rollout.sagemaker.state import read_once
from lambdas.rollout.store import Table
from lambdas.shared.settings import FunctionSettings

if TYPE_CHECKING:
    from mypy_boto3_application_autoscaling import ApplicationAutoScalingClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_ssm import SSMClient

# A look makes about twenty calls; what fails now is tried again by the state machine.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
)
_PLACE: Final = TypeAdapter(RolloutPlace)


class Settings(FunctionSettings):
    """As deployed. Where each endpoint is served lies in a parameter of its own."""

    environment: str = Field(alias="ENVIRONMENT")
    table: str = Field(alias="TABLE")
    state_machine: str = Field(alias="STATE_MACHINE")


def of_ecs(settings: Settings) -> Dependencies:
    """Everything that the service looks at and acts on, of an endpoint on ECS."""
    s3 = boto3.client("s3", config=PATIENT_FOR_A_LOOK)
    return Dependencies(
        store=Table(boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK), settings.table),
        balancer=Listener(boto3.client("elbv2", config=PATIENT_FOR_A_LOOK)),
        services=EcsServices(boto3.client("ecs", config=PATIENT_FOR_A_LOOK), _ssm()),
        nodes=ScalingGroup(boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)),
        measured=CloudWatchFigures(_cloudwatch()),
        artifacts=ArtifactStore(_ssm(), s3, naming.compile_cache_place_parameter(settings.environment)),
        reports=ShadowReports(s3),
        executions=StateMachine(boto3.client("stepfunctions", config=PATIENT_FOR_A_LOOK), settings.state_machine),
    )


def of_sagemaker(of_ecs: Dependencies, hosted: HostedPlace) -> Dependencies:
    """The same for one look, where SageMaker runs the endpoint; store, compiled graphs and executions are as ever."""
    client, scaling = _sagemaker()
    sagemaker = read_once(client)
    return replace(
        of_ecs,
        balancer=VariantWeights(sagemaker, hosted),
        services=Models(sagemaker, _ssm(), hosted),
        nodes=CandidateInstances(sagemaker, scaling, hosted),
        measured=VariantFigures(_cloudwatch()),
    )


def read_place(settings: Settings, fleet: str) -> RolloutPlace | None:
    """Where ``fleet``'s endpoint is served; None where this environment has no such endpoint."""
    name = naming.rollout_place_parameter(settings.environment, fleet)
    try:
        answer = _ssm().get_parameter(Name=name)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") == "ParameterNotFound":
            return None
        raise
    return _PLACE.validate_json(answer["Parameter"]["Value"])


@cache
def _sagemaker() -> "tuple[SageMakerClient, ApplicationAutoScalingClient]":
    sagemaker = boto3.client("sagemaker", config=PATIENT_FOR_A_LOOK)
    return sagemaker, boto3.client("application-autoscaling", config=PATIENT_FOR_A_LOOK)


@cache
def _cloudwatch() -> "CloudWatchClient":
    return boto3.client("cloudwatch", config=PATIENT_FOR_A_LOOK)


@cache
def _ssm() -> "SSMClient":
    return boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
