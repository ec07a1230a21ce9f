"""AWS as the watch sees it: clients with their timeouts and retries. boto3 stays in this file."""

from collections.abc import Mapping, Sequence
from typing import Final

import boto3
from botocore.config import Config

from fleet.instances import Price
from fleet.reserved.observed import Place
from lambdas.capacity_watch import places, prices
from lambdas.capacity_watch.batches import BatchEnvironments
from lambdas.capacity_watch.clients import (
    AutoScalingClient,
    BatchClient,
    CloudFormationClient,
    CloudWatchClient,
    Ec2Client,
    GroupsClient,
    SsmClient,
    TableClient,
)
from lambdas.capacity_watch.deployments import ChangingStacks
from lambdas.capacity_watch.heartbeats import AgentHeartbeats
from lambdas.capacity_watch.nodes import Ec2Nodes
from lambdas.capacity_watch.paces import JobPaces
from lambdas.capacity_watch.ports import World
from lambdas.capacity_watch.reservations import Ec2Reservations
from lambdas.capacity_watch.scaling import ScalingGroups
from lambdas.capacity_watch.settings import Settings
from lambdas.capacity_watch.stacks import ReservationStacks

# What fails now is looked at again in a minute, so that a call gives up soon: after 15 s at the most.
PATIENT_FOR_A_LOOK: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    # One connection for each fleet that is looked at side by side.
    max_pool_connections=10,
)


def world() -> World:
    """Everything that the service looks at and acts on."""
    ec2: Ec2Client = boto3.client("ec2", config=PATIENT_FOR_A_LOOK)
    groups: GroupsClient = boto3.client("resource-groups", config=PATIENT_FOR_A_LOOK)
    batch: BatchClient = boto3.client("batch", config=PATIENT_FOR_A_LOOK)
    autoscaling: AutoScalingClient = boto3.client("autoscaling", config=PATIENT_FOR_A_LOOK)
    cloudformation: CloudFormationClient = boto3.client("cloudformation", config=PATIENT_FOR_A_LOOK)
    cloudwatch: CloudWatchClient = boto3.client("cloudwatch", config=PATIENT_FOR_A_LOOK)
    return World(
        reservations=Ec2Reservations(ec2, groups),
        nodes=Ec2Nodes(ec2),
        batches=BatchEnvironments(batch),
        groups=ScalingGroups(autoscaling),
        stacks=ReservationStacks(cloudformation),
        deployments=ChangingStacks(cloudformation),
        heartbeats=AgentHeartbeats(cloudwatch),
        paces=JobPaces(cloudwatch),
    )


def read_places(settings: Settings) -> tuple[Place, ...]:
    """Where the fleets of this deployment are launched."""
    ssm: SsmClient = boto3.client("ssm", config=PATIENT_FOR_A_LOOK)
    return places.read(ssm, settings.environment, settings.fleets)


def read_prices(settings: Settings, of: Sequence[Place]) -> Mapping[str, Sequence[Price]]:
    """Refreshed prices of these fleets' types."""
    table: TableClient = boto3.client("dynamodb", config=PATIENT_FOR_A_LOOK)
    return prices.read(table, settings.price_table, of)
