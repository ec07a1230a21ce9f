"""The engine as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

import time
from typing import Final

import boto3
from botocore.config import Config
from pydantic import Field, Json

from lambdas.capacity_blocks.fleets import BatchFleets, BlockFleet
from lambdas.capacity_blocks.market import Ec2Market
from lambdas.capacity_blocks.request_table import RequestTable
from lambdas.capacity_blocks.service import Dependencies
from lambdas.capacity_blocks.usage import NodeLogUsage
from lambdas.shared.identity import principal
from lambdas.shared.settings import FunctionSettings
from lambdas.shared.tickets import Tickets

# What fails now is done at the next look.
READING: Final = Config(connect_timeout=2, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})
# PurchaseCapacityBlock has no client token: a second attempt could buy a second block.
BUYING: Final = Config(connect_timeout=2, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 1})


class Settings(FunctionSettings):
    """``approver_arns`` and ``fleets`` are JSON: a list, and an object by the fleet's name."""

    environment: str = Field(alias="ENVIRONMENT")
    table: str = Field(alias="TABLE")
    ticket_topic: str = Field(alias="TICKET_TOPIC")
    node_log_group: str = Field(alias="NODE_LOG_GROUP")
    sts_host: str = Field(alias="STS_HOST")
    approver_arns: Json[frozenset[str]] = Field(alias="APPROVERS")
    fleets: Json[dict[str, BlockFleet]] = Field(alias="PLACES")

    @property
    def approvers(self) -> frozenset[str]:
        """Who may approve, as callers are named."""
        return frozenset(map(principal, self.approver_arns))


def dependencies(settings: Settings) -> Dependencies:
    """Everything that the service acts on."""
    buyer, reader = boto3.client("ec2", config=BUYING), boto3.client("ec2", config=READING)
    batch, ssm = boto3.client("batch", config=READING), boto3.client("ssm", config=READING)
    return Dependencies(
        requests=RequestTable(boto3.client("dynamodb", config=READING), settings.table),
        market=Ec2Market(buyer, reader),
        fleets=BatchFleets(batch, ssm, settings.environment, settings.fleets),
        tickets=Tickets(boto3.client("sns", config=READING), settings.ticket_topic, "capacity-block"),
        usage=NodeLogUsage(boto3.client("logs", config=READING), settings.node_log_group, time),
        approvers=settings.approvers,
        deployed=settings.fleets,
    )
