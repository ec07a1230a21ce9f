"""The ledger as people and programs read it: every dollar with its price's kind and date, every sum of its parts."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from cli.tables import Table
from fleet.ledger import UNITS, By, Category, Total, cents, totals, usd
from fleet.ledger.lines import Line
from fleet.ledger.totals import total
from fleet.prices.age import staleness

# Of what jobs held, only running and compiling have columns of their own; the rest is beside them.
_APART: Final = (
    ("running", (Category.RUNNING,)),
    ("compiling", (Category.COMPILING,)),
    ("other held", (Category.STARTUP, Category.CHECKPOINT, Category.DRAINING)),
    ("idle", (Category.IDLE,)),
    ("fault", (Category.FAULT,)),
    ("unseen", (Category.UNSEEN,)),
    ("reserved, unused", (Category.UNALLOCATED_RESERVED,)),
)
_WORK: Final = (
    ("1M tokens", "usd_per_million_tokens"),
    ("1M samples", "usd_per_million_samples"),
    ("step", "usd_per_step"),
    ("busy core-hour", "usd_per_busy_core_hour"),
    ("useful core-hour", "usd_per_useful_core_hour"),
)


def dollars(lines: Sequence[Line], by: By) -> Table:
    """Who paid how much for what; prices are numbered, and named below the table."""
    rows = totals(lines, by)
    whole = total("all", lines)
    shown = [(name, of) for name, of in _APART if any(category in whole.by_category for category in of)]
    numbers, old = _numbers(lines), stale(lines)
    table = _table(
        f"USD by {by.value}",
        numbers,
        old,
        by.value,
        "USD",
        *(name for name, _ in shown),
        "node-hours",
        "unpriced hours",
    )
    amounts = [[row.amount for row in rows]]
    amounts += [[sum(row.by_category.get(c, 0) for c in of) for row in rows] for _, of in shown]
    # By column, so that each of them adds up to its foot.
    columns = [cents(column) for column in amounts]
    for index, row in enumerate(rows):
        table.add_row(
            row.name or "(no job)",
            *(_cents(column[index]) for column in columns),
            *_hours(row),
            _prices(row, numbers),
        )
    table.add_section()
    table.add_row("all", *(_cents(sum(column)) for column in columns), *_hours(whole), _prices(whole, numbers))
    return table


def work(lines: Sequence[Line], by: By) -> Table | None:
    """What work cost, of those that report any."""
    rows = [row for row in totals(lines, by) if any(getattr(row, field) is not None for _, field in _WORK)]
    if not rows:
        return None
    numbers, old = _numbers(lines), stale(lines)
    table = _table(
        "USD for work done, all of the job's time counted", numbers, old, by.value, *(name for name, _ in _WORK)
    )
    for row in rows:
        figures = [getattr(row, field) for _, field in _WORK]
        table.add_row(
            row.name or "(no job)",
            *("-" if f is None else f"{f:,.4f}" for f in figures),
            _prices(row, numbers),
        )
    return table


def bill(reconciled: Mapping[date, Mapping[str, Any]]) -> Table:
    """The ledger's days beside Cost Explorer's."""
    table = Table(title="USD beside the bill (Cost Explorer, unblended, before credits and Savings Plans)")
    for name in ("day", "ledger", "billed", "difference", "CloudWatch, tagged", "CloudWatch, account", "note"):
        table.add_column(name, justify="left" if name in {"day", "note"} else "right")
    for day, row in sorted(reconciled.items()):
        figures = ("ledger_usd", "billed_usd", "difference_usd", "cloudwatch_usd", "cloudwatch_account_usd")
        others = json.loads(row["adjustments"] or "{}")
        notes = (
            row["problem"],
            *(f"{kind} {value:,.2f}" for kind, value in others.items()),
            "AWS may still change it" if row["is_estimate"] else None,
        )
        table.add_row(
            day.isoformat(),
            *("-" if row[name] is None else f"{row[name]:,.2f}" for name in figures),
            "; ".join(filter(None, notes)),
        )
    return table


def stale(lines: Sequence[Line]) -> Mapping[tuple[str, str], str]:
    """Prices by (kind, as-of date) that were too old on the last day that was counted at them, and how old."""
    last: dict[tuple[str, str], Line] = {}
    for line in sorted(lines, key=lambda each: each.day):
        if line.price is not None:
            last[line.price.kind, line.price.as_of] = line
    found = {of: staleness(line.price, line.day) for of, line in last.items() if line.price}
    return {of: why for of, why in found.items() if why is not None}


def as_json(row: Total, old: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """One row for programs: exact dollars as texts, what is not known as null; ``old`` prices are as ``stale`` says."""
    return {
        "name": row.name,
        "usd": str(usd(row.amount)),
        "allocated_usd": str(usd(row.allocated)),
        "usd_by_category": {category.value: str(usd(amount)) for category, amount in sorted(row.by_category.items())},
        "wasted_usd": None if row.wasted is None else str(usd(row.wasted)),
        "node_hours": row.node_hours,
        "unpriced_node_hours": row.unpriced_units / UNITS / 60,
        "prices": [{"kind": kind, "as_of": as_of, "stale": old.get((kind, as_of))} for kind, as_of in row.prices],
        **{field: getattr(row, field) for _, field in _WORK},
    }


def _cents(value: int) -> str:
    return f"{value / 100:,.2f}"


def _hours(row: Total) -> tuple[str, str]:
    unpriced = row.unpriced_units / UNITS / 60
    return f"{row.node_hours:,.2f}", f"{unpriced:,.2f}" if unpriced else "-"


def _numbers(lines: Sequence[Line]) -> Mapping[tuple[str, str], int]:
    # In a column of their own they would be cut off on a narrow terminal, and are the same in most rows.
    return {price: number for number, price in enumerate(total(None, lines).prices, start=1)}


def _prices(row: Total, numbers: Mapping[tuple[str, str], int]) -> str:
    return " ".join(f"[{numbers[price]}]" for price in row.prices) or "unknown"


def _table(
    title: str, numbers: Mapping[tuple[str, str], int], old: Mapping[tuple[str, str], str], name: str, *figures: str
) -> Table:
    told = "; ".join(
        f"[{number}] {of[0]}, as of {of[1]}{f', STALE: {old[of]}' if of in old else ''}"
        for of, number in numbers.items()
    )
    table = Table(title=title, caption=f"prices: {told or 'none is known'}", caption_justify="left")
    table.add_column(name)
    for figure in figures:
        table.add_column(figure, justify="right")
    table.add_column("price")
    return table
