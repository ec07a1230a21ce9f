"""The ledger's days beside the bill's: the difference, what AWS added or took off, and what watching costs."""

import json
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import duckdb

from fleet.ledger.amounts import PER_USD, UNITS
from fleet.ledger.columns import LEDGER, RECONCILED, RECONCILIATION, place
from lambdas.cost_report import rollup
from lambdas.cost_report.bill import Billed, BillUnavailableError

if TYPE_CHECKING:
    from lambdas.cost_report.adapters import Dependencies

# What instances cost before anything is taken off. A reserved instance's hours are DiscountedUsage, those that a
# Savings Plan covers come with a negation of their on-demand price; neither is of the ledger's kind of dollar.
# Source: "Cost Explorer: record types", AWS Cost Management User Guide ("Charge type" filter).
USAGE: Final = frozenset({"Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"})
_TYPES: Final = {"double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}


def reconcile(aws: "Dependencies", environment: str, first: date, end: date) -> tuple[str, ...]:
    """Write a row for each day of the ledger from ``first`` to the one before ``end``; the problems, one line each."""
    problem: str | None = None
    billed: Mapping[date, Billed] = {}
    try:
        billed = aws.bill.of(first, end)
    except BillUnavailableError as error:
        problem = f"the bill cannot be had: {error}"
    for day in (date.fromordinal(number) for number in range(first.toordinal(), end.toordinal())):
        sums = _sums(aws, environment, day)
        if sums is None:
            continue
        target = place(RECONCILIATION, environment, day)
        bill = billed.get(day)
        if bill is None and aws.store.read(target) is not None:
            # What is known from an earlier run is better than nothing.
            continue
        _write(aws, target, _row(*sums, bill, problem))
    return () if problem is None else (problem,)


def _sums(aws: "Dependencies", environment: str, day: date) -> tuple[float, float] | None:
    key = place(LEDGER, environment, day)
    if not aws.store.below(key):
        return None
    path = aws.scratch / "day.parquet"
    aws.store.fetch(key, path)
    query = (
        "SELECT coalesce(sum(amount), 0)::DOUBLE, coalesce(sum(units) FILTER (amount IS NULL), 0)::DOUBLE "
        "FROM read_parquet($file)"
    )
    amount, unpriced = duckdb.execute(query, {"file": str(path)}).fetchall()[0]
    path.unlink()
    return amount / PER_USD, unpriced / UNITS / 60


def _row(ledger: float, unpriced: float, bill: Billed | None, problem: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {name: None for name, _, _ in RECONCILED}
    row |= {"ledger_usd": ledger, "unpriced_node_hours": unpriced}
    if bill is None:
        return {**row, "problem": problem or "Cost Explorer has nothing of this day yet"}
    if not bill.by_record_type:
        # Neither the instances' dollars nor CloudWatch's are zero: nobody knows what carries the tag.
        account = {"cloudwatch_account_usd": bill.cloudwatch_account, "is_estimate": bill.is_estimate}
        return {**row, **account, "problem": _NOTHING}
    usage = sum(usd for kind, usd in bill.by_record_type.items() if kind in USAGE)
    others = {kind: usd for kind, usd in sorted(bill.by_record_type.items()) if kind not in USAGE}
    return {
        **row,
        "billed_usd": usage,
        "difference_usd": usage - ledger,
        "adjustments": json.dumps(others) if others else None,
        "cloudwatch_usd": bill.cloudwatch,
        "cloudwatch_account_usd": bill.cloudwatch_account,
        "is_estimate": bill.is_estimate,
    }


# A tag counts in Cost Explorer only after somebody has activated it, and from that day on.
_NOTHING: Final = (
    "Cost Explorer has no instance with the tag environment on this day: it is a day behind, or the tag is not "
    "activated as a cost allocation tag"
)


def _write(aws: "Dependencies", key: str, row: Mapping[str, Any]) -> None:
    path = aws.scratch / "reconciliation.parquet"
    values = ", ".join(f"?::{_TYPES[kind]} AS {name}" for name, kind, _ in RECONCILED)
    with rollup.connect(aws.scratch) as database:
        database.execute(f"CREATE TEMP TABLE row AS SELECT {values}", [row[name] for name, _, _ in RECONCILED])
        database.execute(f"COPY row TO '{path}' (FORMAT parquet)").fetchall()
    aws.store.send(path, key)
    path.unlink()
