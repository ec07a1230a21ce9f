"""The ledger as it lies in S3: places, columns and their types, for who writes it, the Athena table, and readers."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from fleet.ledger.lines import Line
from fleet.ledger.node_minute import Category, PaidPrice

# What CloudWatch Logs hands over, as it comes; the hour is that of its arrival.
EVENTS: Final = "events/arrived="
MINUTES: Final = "minutes/day="
RESERVED: Final = "reserved/day="
LEDGER: Final = "ledger"
RECONCILIATION: Final = "reconciliation"
STATE: Final = "state.json"

# Names, Parquet (and Hive) types, and what Athena shows beside them. The day and the environment are partitions.
COLUMNS: Final[tuple[tuple[str, str, str], ...]] = (
    ("fleet", "string", "fleet"),
    ("instance_type", "string", "EC2 instance type"),
    ("job", "string", "job id; null where no job held the node"),
    ("owner", "string", "who pays"),
    ("category", "string", "what the time was good for"),
    ("price_kind", "string", "how the hour is bought; null where the price is not known"),
    ("price_source", "string", "who says so"),
    ("price_as_of", "string", "date of the price"),
    ("price_micro_usd_per_hour", "bigint", "price of a whole node, millionths of a dollar an hour"),
    ("units", "bigint", "millionths of a node-minute"),
    ("amount", "bigint", "sixtieths of a millionth of a dollar: sum(amount) / 6e7 is USD; null is unpriced"),
    ("wasted", "bigint", "the part of amount that bought no useful work; null where that cannot be said"),
    ("core_minutes", "double", "logical cores held, times minutes"),
    ("busy_core_minutes", "double", "the same, times core utilization"),
    ("useful_core_minutes", "double", "the same, times tensor-engine utilization"),
    ("tokens", "double", "as the workload reports"),
    ("samples", "double", "as the workload reports"),
    ("first_step", "bigint", "lowest step that the job reports"),
    ("last_step", "bigint", "highest step"),
)
# USD by who says so; null is not known. Written as soon as Cost Explorer answers, and again until it is final.
RECONCILED: Final[tuple[tuple[str, str, str], ...]] = (
    ("ledger_usd", "double", "the ledger's dollars of the day"),
    ("unpriced_node_hours", "double", "node-hours that are in no dollar"),
    ("billed_usd", "double", "Cost Explorer's usage of the environment's instances, before credits"),
    ("difference_usd", "double", "billed less ledger"),
    ("adjustments", "string", "what else Cost Explorer has, by record type: credits, Savings Plans, refunds; JSON"),
    ("cloudwatch_usd", "double", "CloudWatch, what carries the environment's tag"),
    ("cloudwatch_account_usd", "double", "CloudWatch, the whole account: metrics and requests carry no tag"),
    ("is_estimate", "boolean", "whether AWS may still change it"),
    ("problem", "string", "why something is not known"),
)


def place(kind: str, environment: str, day: date) -> str:
    """The object of a day of ``kind``, ``LEDGER`` or ``RECONCILIATION``."""
    return f"{kind}/environment={environment}/day={day.isoformat()}/{kind}.parquet"


def line_of(environment: str, day: date, row: Mapping[str, Any]) -> Line:
    """A row of ``COLUMNS`` as it was booked."""
    priced = row["price_micro_usd_per_hour"] is not None
    price = (
        PaidPrice(row["price_micro_usd_per_hour"], row["price_kind"], row["price_source"], row["price_as_of"])
        if priced
        else None
    )
    rest = {name: row[name] for name, _, _ in COLUMNS if not name.startswith("price_")}
    return Line(
        **{**rest, "day": day, "environment": environment, "category": Category(row["category"]), "price": price}
    )
