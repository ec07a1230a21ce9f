"""What was paid for, minute by minute, and for whom: the node-minutes of the log events as dollars that add up.

    minutes = one_per_minute(read_node_minute(event) for event in events)
    lines = book(minutes, reserved_minutes)
    totals(lines, By.OWNER)

Money is counted in whole ``amounts``; a minute without a known price is unpriced and never free.
"""

from fleet.ledger.amounts import PER_USD, UNITS, cents, rate, usd
from fleet.ledger.categories import ALLOCATED, Category
from fleet.ledger.lines import Line, book
from fleet.ledger.node_minute import JobPart, NodeMinute, PaidPrice
from fleet.ledger.once import Dropped, one_per_minute
from fleet.ledger.reading import UnreadableEventError, read_node_minute
from fleet.ledger.reserved import ReservedMinute, one_per_fleet, read_reserved_minute
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
