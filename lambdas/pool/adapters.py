"""The controller as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from pydantic import Field, Json, TypeAdapter

from fleet import naming
from fleet.pool.observed import Place
from lambdas.pool.cluster import EcsCluster
from lambdas.pool.group import ScalingGroup
from lambdas.pool.job_table import JobTable
from lambdas.pool.service import Dependencies
from lambdas.shared.settings import FunctionSettings

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

# What fails now is looked at again in a minute, so that a call gives up soon: after 15 s at the most.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=20,
)
# StartTask has no token: said twice, it would start twice.
ONCE: Final = PATIENT_FOR_A_LOOK.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}, read_timeout=15))
# GetParameters takes ten names.
_PAGE: Final = 10
_PLACE: Final = TypeAdapter(Place)


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


def read_places(settings: Settings) -> tuple[Place, ...]:
    """How the pools of this deployment are deployed."""
    return places(boto3.client("ssm", config=PATIENT_FOR_A_LOOK), settings.environment, settings.fleets)


def places(ssm: "SSMClient", environment: str, fleets: Sequence[str]) -> tuple[Place, ...]:
    """The places of ``fleets``, in their order.

    Raises:
        LookupError: a parameter is not there.
    """
    names = [naming.job_place_parameter(environment, fleet) for fleet in fleets]
    found: dict[str, Place] = {}
    for first in range(0, len(names), _PAGE):
        answer = ssm.get_parameters(Names=names[first : first + _PAGE])
        found |= {each["Name"]: _PLACE.validate_json(each["Value"]) for each in answer["Parameters"]}
    absent = [name for name in names if name not in found]
    if absent:
        raise LookupError(f"there is no parameter {', '.join(absent)}")
    return tuple(found[name] for name in names)
