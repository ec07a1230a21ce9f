"""AWS as the watch sees it: clients with their timeouts and retries. boto3 stays in this file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import boto3
from botocore.config import Config

from fleet.instances import Price
from fleet.reserved.observed import Place
from lambdas.capacity_watch import prices, settings
from lambdas.capacity_watch.cloudformation import ChangingStacks, ReservationStacks
from lambdas.capacity_watch.cloudwatch import AgentHeartbeats, JobPaces
from lambdas.capacity_watch.ec2 import Ec2Nodes, Ec2Reservations
from lambdas.capacity_watch.engines import BatchEnvironments, ScalingGroups
from lambdas.capacity_watch.settings import Settings

# What fails now is looked at again in a minute, so that a call gives up soon: after 15 s at the most.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    # One connection for each fleet that is looked at side by side.
    max_pool_connections=10,
)


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


def read_places(told: Settings) -> tuple[Place, ...]:
    """Where the fleets of this deployment are launched."""
    return settings.read_places(boto3.client("ssm", config=PATIENT_FOR_A_LOOK), told.environment, told.fleets)


def read_prices(told: Settings, of: Sequence[Place]) -> Mapping[str, Sequence[Price]]:
    """Refreshed prices of these fleets' types."""
    return prices.read(boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK), told.price_table, of)
