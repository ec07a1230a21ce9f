"""AWS as rollouts see it: clients with their timeouts and retries. boto3 stays in this file."""

from dataclasses import replace
from functools import cache
from typing import Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet import naming
from fleet.rollout.facts import HostedPlace, RolloutPlace
from lambdas.rollout.clients import (
    AutoScalingClient,
    BalancerClient,
    CloudWatchClient,
    EcsClient,
    S3Client,
    S3ReadClient,
    SageMakerClient,
    ScalingClient,
    SsmClient,
    StatesClient,
    TableClient,
)
from lambdas.rollout.ports import World
from lambdas.rollout.sagemaker.balancer import VariantWeights
from lambdas.rollout.sagemaker.measured import VariantFigures
from lambdas.rollout.sagemaker.nodes import CandidateInstances
from lambdas.rollout.sagemaker.reading import OneReading
from lambdas.rollout.sagemaker.services import Models
from lambdas.rollout.settings import Settings
from lambdas.rollout.sides.artifacts import ArtifactStore
from lambdas.rollout.sides.balancer import Listener
from lambdas.rollout.sides.executions import StateMachine
from lambdas.rollout.sides.measured import CloudWatchFigures
from lambdas.rollout.sides.nodes import ScalingGroup
from lambdas.rollout.sides.reports import ShadowReports
from lambdas.rollout.sides.services import EcsServices
from lambdas.rollout.store import Table

# A look makes about twenty calls; what fails now is tried again by the state machine.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
)
_PLACE: Final = TypeAdapter(RolloutPlace)


def world(settings: Settings) -> World:
    """Everything that the service looks at and acts on."""
    ecs: EcsClient = boto3.client("ecs", config=PATIENT_FOR_A_LOOK)
    balancer: BalancerClient = boto3.client("elbv2", config=PATIENT_FOR_A_LOOK)
    autoscaling: AutoScalingClient = boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)
    cloudwatch: CloudWatchClient = boto3.client("cloudwatch", config=PATIENT_FOR_A_LOOK)
    ssm: SsmClient = boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
    s3: S3Client = boto3.client("s3", config=PATIENT_FOR_A_LOOK)
    objects: S3ReadClient = boto3.client("s3", config=PATIENT_FOR_A_LOOK)
    states: StatesClient = boto3.client("stepfunctions", config=PATIENT_FOR_A_LOOK)
    dynamodb: TableClient = boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK)
    return World(
        store=Table(dynamodb, settings.table),
        balancer=Listener(balancer),
        services=EcsServices(ecs, ssm),
        nodes=ScalingGroup(autoscaling),
        measured=CloudWatchFigures(cloudwatch),
        artifacts=ArtifactStore(ssm, s3, naming.compile_cache_place_parameter(settings.environment)),
        reports=ShadowReports(objects),
        executions=StateMachine(states, settings.state_machine),
    )


def hosted_world(world: World, hosted: HostedPlace) -> World:
    """The same for one look, where SageMaker runs the endpoint; store, compiled graphs and executions are as ever."""
    client, scaling, cloudwatch, ssm = _hosted_clients()
    sagemaker = OneReading(client)
    return replace(
        world,
        balancer=VariantWeights(sagemaker, hosted),
        services=Models(sagemaker, ssm, hosted),
        nodes=CandidateInstances(sagemaker, scaling, hosted),
        measured=VariantFigures(cloudwatch),
    )


@cache
def _hosted_clients() -> tuple[SageMakerClient, ScalingClient, CloudWatchClient, SsmClient]:
    sagemaker: SageMakerClient = boto3.client("sagemaker", config=PATIENT_FOR_A_LOOK)
    scaling: ScalingClient = boto3.client("application-autoscaling", config=PATIENT_FOR_A_LOOK)
    cloudwatch: CloudWatchClient = boto3.client("cloudwatch", config=PATIENT_FOR_A_LOOK)
    ssm: SsmClient = boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
    return sagemaker, scaling, cloudwatch, ssm


def read_place(settings: Settings, fleet: str) -> RolloutPlace | None:
    """Where ``fleet``'s endpoint is served; None where this environment has no such endpoint."""
    name = naming.rollout_place_parameter(settings.environment, fleet)
    try:
        answer = _parameters().get_parameter(Name=name)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") == "ParameterNotFound":
            return None
        raise
    return _PLACE.validate_json(answer["Parameter"]["Value"])


@cache
def _parameters() -> SsmClient:
    ssm: SsmClient = boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
    return ssm
