"""What was paid for, minute by minute, and for whom: the node-minutes of the log events as dollars that add up.

    minutes = one_per_minute(read_node_minute(event) for event in events)
    lines = book(minutes, reserved_minutes)
    totals(lines, By.OWNER)

Money is counted in whole ``amounts``; a minute without a known price is unpriced and never free.
"""

from fleet.ledger.amounts import PER_USD, UNITS, cents, rate, usd
from fleet.ledger.lines import Line, book
from fleet.ledger.node_minute import ALLOCATED, Category, Dropped, JobPart, NodeMinute, PaidPrice, one_per_minute
from fleet.ledger.reading import (
    ReservedMinute,
    UnreadableEventError,
    one_per_fleet,
    read_node_minute,
    read_reserved_minute,
)
from fleet.ledger.totals import By, Total, totals

__all__ = [
    "ALLOCATED",
    "PER_USD",
    "UNITS",
    "By",
    "Category",
    "Dropped",
    "JobPart",
    "Line",
    "NodeMinute",
    "PaidPrice",
    "ReservedMinute",
    "Total",
    "UnreadableEventError",
    "book",
    "cents",
    "one_per_fleet",
    "one_per_minute",
    "rate",
    "read_node_minute",
    "read_reserved_minute",
    "totals",
    "usd",
]
