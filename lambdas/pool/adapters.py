"""The controller as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

from typing import Final

import boto3
from botocore.config import Config
from pydantic import Field, Json, TypeAdapter

from fleet import naming
from fleet.pool.observed import PoolDeployment
from lambdas.pool.cluster import EcsCluster
from lambdas.pool.group import ScalingGroup
from lambdas.pool.job_table import JobTable
from lambdas.pool.service import Dependencies
from lambdas.shared.settings import FunctionSettings, read_parameters

# What fails now is looked at again in a minute, so that a call gives up soon: after 15 s at the most.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=20,
)
# StartTask has no token: said twice, it would start twice.
ONCE: Final = PATIENT_FOR_A_LOOK.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}, read_timeout=15))
_PLACE: Final = TypeAdapter(PoolDeployment)


class Settings(FunctionSettings):
    """``fleets`` are names, as JSON; how each is deployed lies in a parameter of its own."""

    environment: str = Field(alias="ENVIRONMENT")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")
    table: str = Field(alias="TABLE")


def dependencies(settings: Settings) -> Dependencies:
    """Everything that the service looks at and acts on."""
    autoscaling = boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)
    ec2 = boto3.client("ec2", config=PATIENT_FOR_A_LOOK)
    return Dependencies(
        jobs=JobTable(boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK), settings.table),
        group=ScalingGroup(autoscaling, ec2),
        cluster=EcsCluster(boto3.client("ecs", config=ONCE)),
    )


def read_places(settings: Settings) -> tuple[PoolDeployment, ...]:
    """How the pools of this deployment are deployed, in the order of ``settings.fleets``; raises LookupError."""
    names = [naming.job_place_parameter(settings.environment, fleet) for fleet in settings.fleets]
    parameters = read_parameters(boto3.client("ssm", config=PATIENT_FOR_A_LOOK), names)
    return tuple(_PLACE.validate_json(each["Value"]) for each in parameters)
