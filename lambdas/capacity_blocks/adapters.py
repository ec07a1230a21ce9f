"""AWS as the engine sees it: clients with their timeouts and retries, and the world made of them. boto3 stays here."""

import time
from typing import Final

import boto3
from botocore.config import Config

from lambdas.capacity_blocks.clients import BatchClient, Ec2Client, SsmClient, TableClient
from lambdas.capacity_blocks.fleets import BatchFleets
from lambdas.capacity_blocks.market import Ec2Market
from lambdas.capacity_blocks.ports import World
from lambdas.capacity_blocks.settings import Settings
from lambdas.capacity_blocks.store import Table
from lambdas.capacity_blocks.usage import NodeLogUsage
from lambdas.shared.log_query import LogsClient
from lambdas.shared.tickets import SnsClient, Tickets

# What fails now is done at the next look.
READING: Final = Config(connect_timeout=2, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})
# PurchaseCapacityBlock has no client token: a second attempt could buy a second block.
BUYING: Final = Config(connect_timeout=2, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 1})


def table(settings: Settings) -> Table:
    """The requests of this deployment."""
    dynamodb: TableClient = boto3.client("dynamodb", config=READING)
    return Table(dynamodb, settings.table)


def world(settings: Settings) -> World:
    """Everything that the service acts on."""
    buyer: Ec2Client = boto3.client("ec2", config=BUYING)
    reader: Ec2Client = boto3.client("ec2", config=READING)
    batch: BatchClient = boto3.client("batch", config=READING)
    ssm: SsmClient = boto3.client("ssm", config=READING)
    sns: SnsClient = boto3.client("sns", config=READING)
    logs: LogsClient = boto3.client("logs", config=READING)
    return World(
        store=table(settings),
        market=Ec2Market(buyer, reader),
        fleets=BatchFleets(batch, ssm, settings.environment, settings.places),
        people=Tickets(sns, settings.ticket_topic, "capacity-block"),
        usage=NodeLogUsage(logs, settings.node_log_group, time),
        approvers=settings.approvers,
        places=settings.places,
    )
