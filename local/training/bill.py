"""What the run has cost, by the ledger: from the nodes' own log events, as they arrived in CloudWatch Logs."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import boto3
from rich.table import Table

from fleet import naming
from fleet.ledger import UNITS, Line, NodeMinute, book, one_per_minute, read_node_minute, usd


def node_minutes(environment: str, fleet: str) -> tuple[NodeMinute, ...]:
    """Every minute that a node of the fleet has told of, once."""
    found = [read_node_minute(event) for event in events(environment) if event.get("fleet") == fleet]
    return one_per_minute(found)[0]


def events(environment: str) -> list[Mapping[str, Any]]:
    """The log events of all nodes of an environment."""
    pages = (
        boto3.client("logs")
        .get_paginator("filter_log_events")
        .paginate(logGroupName=naming.node_log_group(environment))
    )
    return [json.loads(event["message"]) for page in pages for event in page["events"]]


def lines(environment: str, fleet: str) -> tuple[Line, ...]:
    """The ledger of the fleet."""
    return book(node_minutes(environment, fleet))


def dollars(booked: Iterable[Line]) -> Decimal:
    """All of what was booked."""
    return usd(sum(line.amount or 0 for line in booked))


def table(booked: tuple[Line, ...]) -> Table:
    """Minutes and dollars by job and by what the time was good for."""
    shown = Table("job", "owner", "the time was", title="The ledger", title_justify="left")
    shown.add_column("node-minutes", justify="right")
    shown.add_column("USD", justify="right")
    for line in sorted(booked, key=lambda each: (each.job is None, -(each.amount or 0))):
        name = f"{line.job[:8]}…" if line.job else "none"
        shown.add_row(name, line.owner, line.category.value, str(line.units // UNITS), f"{dollars([line]):.2f}")
    shown.add_section()
    shown.add_row("all", "", "", str(sum(line.units for line in booked) // UNITS), f"{dollars(booked):.2f}")
    return shown
