"""The watch as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from pydantic import Field, Json, TypeAdapter

from fleet import naming
from fleet.instances import Price
from fleet.reserved.observed import FleetDeployment
from lambdas.capacity_watch import prices
from lambdas.capacity_watch.cloudformation import ChangingStacks, ReservationStacks
from lambdas.capacity_watch.cloudwatch import AgentHeartbeats, JobPaces
from lambdas.capacity_watch.ec2 import Ec2Nodes, Ec2Reservations
from lambdas.capacity_watch.engines import BatchEnvironments, ScalingGroups
from lambdas.shared.settings import FunctionSettings, read_parameters

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

# What fails now is looked at again in a minute, so that a call gives up soon: after 15 s at the most.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    # One connection for each fleet that is looked at side by side.
    max_pool_connections=10,
)


_PLACE: Final = TypeAdapter(FleetDeployment)


class Settings(FunctionSettings):
    """``fleets`` are names, as JSON; where each is launched lies in a parameter of its own.

    Lambda lets all environment variables together have 4 KB, which the places of twenty fleets do not fit in.
    """

    environment: str = Field(alias="ENVIRONMENT")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")
    price_table: str = Field(alias="PRICE_TABLE")


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service looks at and acts on.

    Each call may raise what botocore raises, and LookupError for what ought to be there and is not.
    """

    reservations: Ec2Reservations
    nodes: Ec2Nodes
    batches: BatchEnvironments
    groups: ScalingGroups
    stacks: ReservationStacks
    deployments: ChangingStacks
    heartbeats: AgentHeartbeats
    paces: JobPaces


def dependencies() -> Dependencies:
    """All of it, in the function's own account and region."""
    ec2 = boto3.client("ec2", config=PATIENT_FOR_A_LOOK)
    cloudformation = boto3.client("cloudformation", config=PATIENT_FOR_A_LOOK)
    cloudwatch = boto3.client("cloudwatch", config=PATIENT_FOR_A_LOOK)
    return Dependencies(
        reservations=Ec2Reservations(ec2, boto3.client("resource-groups", config=PATIENT_FOR_A_LOOK)),
        nodes=Ec2Nodes(ec2),
        batches=BatchEnvironments(boto3.client("batch", config=PATIENT_FOR_A_LOOK)),
        groups=ScalingGroups(boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)),
        stacks=ReservationStacks(cloudformation),
        deployments=ChangingStacks(cloudformation),
        heartbeats=AgentHeartbeats(cloudwatch),
        paces=JobPaces(cloudwatch),
    )


def read_places(told: Settings) -> tuple[FleetDeployment, ...]:
    """Where the fleets of this deployment are launched."""
    return places(boto3.client("ssm", config=PATIENT_FOR_A_LOOK), told.environment, told.fleets)


def places(ssm: "SSMClient", environment: str, fleets: Sequence[str]) -> tuple[FleetDeployment, ...]:
    """Where ``fleets`` are launched, in their order; raises LookupError where a parameter is not there."""
    found = read_parameters(ssm, [naming.watched_place_parameter(environment, fleet) for fleet in fleets])
    return tuple(
        replace(_PLACE.validate_json(each["Value"]), deployed_at=each.get("LastModifiedDate")) for each in found
    )


def read_prices(told: Settings, of: Sequence[FleetDeployment]) -> Mapping[str, Sequence[Price]]:
    """Refreshed prices of these fleets' types."""
    return prices.read(boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK), told.price_table, of)
