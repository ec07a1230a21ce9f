"""AWS as the controller sees it: clients with their timeouts and retries. boto3 stays in this file."""

from collections.abc import Sequence
from typing import Final

import boto3
from botocore.config import Config
from pydantic import TypeAdapter

from fleet import naming
from fleet.pool.observed import Place
from lambdas.pool.clients import AutoScalingClient, DynamoDbClient, Ec2Client, EcsClient, SsmClient
from lambdas.pool.cluster import EcsCluster
from lambdas.pool.group import ScalingGroup
from lambdas.pool.ports import World
from lambdas.pool.settings import Settings
from lambdas.pool.store import Table

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


def world(settings: Settings) -> World:
    """Everything that the service looks at and acts on."""
    autoscaling: AutoScalingClient = boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)
    ec2: Ec2Client = boto3.client("ec2", config=PATIENT_FOR_A_LOOK)
    ecs: EcsClient = boto3.client("ecs", config=ONCE)
    dynamodb: DynamoDbClient = boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK)
    return World(Table(dynamodb, settings.table), ScalingGroup(autoscaling, ec2), EcsCluster(ecs))


def read_places(settings: Settings) -> tuple[Place, ...]:
    """How the pools of this deployment are deployed."""
    ssm: SsmClient = boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
    return places(ssm, settings.environment, settings.fleets)


def places(ssm: SsmClient, environment: str, fleets: Sequence[str]) -> tuple[Place, ...]:
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
