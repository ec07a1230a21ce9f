"""`fleet ledger ENV`."""

import json
from datetime import UTC, date, datetime
from typing import Annotated, Final

import typer

from cli.account import Account
from cli.answers import complain, refuse
from cli.ledger import ledger_store, tables
from cli.named import Name, answering
from cli.tables import print_table
from fleet.ledger import By, totals
from fleet.ledger.totals import total

_LONGEST_DAYS: Final = 400


def ledger(
    environment: Name,
    first: Annotated[
        str | None, typer.Option("--from", help="First day, UTC; default: the first of the month.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last day, included; default: today.")] = None,
    by: Annotated[By, typer.Option(help="Whose dollars are told apart.")] = By.OWNER,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what was paid for: by job, owner or fleet, with the price's kind and date, beside AWS's own bill."""
    today = datetime.now(UTC).date()
    end = _day("--to", last, today)
    begin = _day("--from", first, end.replace(day=1))
    if not 0 <= (end - begin).days < _LONGEST_DAYS:
        refuse(f"--from {begin} to --to {end}: from 1 to {_LONGEST_DAYS} days can be shown")
    with answering(environment, f"reading the ledger from {begin} to {end}") as named:
        found = ledger_store.read(Account(named.region), named.name, begin, end)
    if as_json:
        typer.echo(json.dumps(_document(named.name, begin, end, by, found), indent=2))
        return
    if not found.lines:
        refuse(f"{named.name} has no ledger from {begin} to {end}: it is rolled up at five past every hour")
    print_table(tables.dollars(found.lines, by))
    work = tables.work(found.lines, by)
    if work is not None:
        print_table(work)
    if found.reconciled:
        print_table(tables.bill(found.reconciled))
    if found.missing:
        complain(f"{len(found.missing)} days of these have no ledger, the first of them {found.missing[0]}")


def _day(option: str, text: str | None, default: date) -> date:
    try:
        return default if text is None else date.fromisoformat(text)
    except ValueError:
        refuse(f"{option} {text}: not a day such as 2026-11-20")


def _document(environment: str, first: date, last: date, by: By, found: ledger_store.Books) -> dict[str, object]:
    old = tables.stale(found.lines)
    return {
        "environment": environment,
        "from": first.isoformat(),
        "to": last.isoformat(),
        "by": by.value,
        "rows": [tables.as_json(row, old) for row in totals(found.lines, by)],
        "total": tables.as_json(total(None, found.lines), old),
        "bill": [{"day": day.isoformat(), **row} for day, row in sorted(found.reconciled.items())],
        "days_without_ledger": [day.isoformat() for day in found.missing],
    }
