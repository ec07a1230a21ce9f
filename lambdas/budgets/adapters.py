"""AWS as budgets see it: clients with their timeouts and retries. boto3 stays in this file."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import boto3
from botocore.config import Config

from fleet.budgets.spending import Budgets
from lambdas.budgets.fleets import BatchQueues, Fleets, Pools, Target
from lambdas.budgets.ledger_store import LedgerStore
from lambdas.budgets.settings import Settings
from lambdas.budgets.stop_table import StopTable
from lambdas.shared.tickets import Tickets

# What fails now is done at the next look, an hour away.
_CONFIG: Final = Config(connect_timeout=3, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 3})


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service reads and acts on. Without ``budgets`` there is only the digest; ``stops`` and ``targets`` come
    with the stop.
    """

    environment: str
    ledger: LedgerStore
    tickets: Tickets
    fleets: Fleets
    budgets: Budgets | None = None
    stops: StopTable | None = None
    targets: Mapping[str, Target] | None = None
    approvers: Collection[str] = ()


def dependencies(settings: Settings) -> Dependencies:
    """All of it, as deployed."""
    dynamodb = boto3.client("dynamodb", config=_CONFIG)
    return Dependencies(
        environment=settings.environment,
        ledger=LedgerStore(boto3.client("s3", config=_CONFIG), settings.bucket, settings.environment),
        tickets=Tickets(boto3.client("sns", config=_CONFIG), settings.ticket_topic, "budget"),
        fleets=Fleets(BatchQueues(boto3.client("batch", config=_CONFIG)), Pools(dynamodb)),
        budgets=settings.budgets,
        stops=StopTable(dynamodb, settings.table) if settings.table else None,
        targets=settings.targets,
        approvers=settings.approvers,
    )
