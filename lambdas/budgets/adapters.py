"""AWS as budgets see it: clients with their timeouts and retries. boto3 stays in this file."""

from typing import Final

import boto3
from botocore.config import Config

from lambdas.budgets.clients import BatchClient, PoolTableClient, S3Client, TableClient
from lambdas.budgets.fleets import Fleets
from lambdas.budgets.ledger_store import LedgerBooks
from lambdas.budgets.pools import Pools
from lambdas.budgets.ports import World
from lambdas.budgets.queues import BatchQueues
from lambdas.budgets.settings import Settings
from lambdas.budgets.store import Table
from lambdas.shared.tickets import SnsClient, Tickets

# What fails now is done at the next look, an hour away.
_CONFIG: Final = Config(connect_timeout=3, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 3})


def world(settings: Settings) -> World:
    """Everything that the service reads and acts on."""
    s3: S3Client = boto3.client("s3", config=_CONFIG)
    sns: SnsClient = boto3.client("sns", config=_CONFIG)
    batch: BatchClient = boto3.client("batch", config=_CONFIG)
    dynamodb: TableClient = boto3.client("dynamodb", config=_CONFIG)
    pools: PoolTableClient = boto3.client("dynamodb", config=_CONFIG)
    return World(
        environment=settings.environment,
        books=LedgerBooks(s3, settings.bucket, settings.environment),
        people=Tickets(sns, settings.ticket_topic, "budget"),
        queues=Fleets(BatchQueues(batch), Pools(pools)),
        budgets=settings.budgets,
        memory=Table(dynamodb, settings.table) if settings.table else None,
        places=settings.places,
        approvers=settings.approvers,
    )
