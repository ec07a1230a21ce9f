"""`fleet ledger ENV`, from the ledger's files as they lie in S3 or at whatever endpoint the command is given."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import duckdb
import typer

from cli.account import Account, AwsError
from cli.answers import complain, refuse
from cli.ledger import tables
from cli.named import Name, answering
from cli.tables import print_table
from fleet import naming
from fleet.ledger import By, totals
from fleet.ledger.columns import LEDGER, RECONCILIATION, line_of, place
from fleet.ledger.lines import Line
from fleet.ledger.totals import total

_ABSENT: Final = ("NoSuchKey", "404")


class NoLedgerError(AwsError):
    """There is none to read; one line."""


@dataclass(frozen=True, slots=True)
class LedgerDays:
    """Lines of the days asked for; ``reconciled`` rows by day; ``missing`` days have no ledger at all."""

    lines: tuple[Line, ...]
    reconciled: dict[date, dict[str, Any]]
    missing: tuple[date, ...]


def read(account: Account, environment: str, first: date, last: date) -> LedgerDays:
    """The days from ``first`` to ``last``, both included.

    Raises:
        NoLedgerError: the environment has none.
        AwsError: AWS does not say.
    """
    bucket = _bucket(account, environment)
    lines: list[Line] = []
    reconciled: dict[date, dict[str, Any]] = {}
    missing: list[date] = []
    for day in _days(first, last):
        rows = _rows(account, bucket, place(LEDGER, environment, day))
        if rows is None:
            missing.append(day)
            continue
        lines += [line_of(environment, day, row) for row in rows]
        beside = _rows(account, bucket, place(RECONCILIATION, environment, day))
        if beside:
            reconciled[day] = beside[0]
    return LedgerDays(tuple(lines), reconciled, tuple(missing))


def _bucket(account: Account, environment: str) -> str:
    name = naming.ledger_bucket_parameter(environment)
    answer = account.find(("ParameterNotFound",), account.ssm.get_parameter, Name=name)
    if answer is None:
        stack = naming.stack_name(environment, "ledger")
        raise NoLedgerError(f"there is no parameter {name}: deploy {stack} with `cdk deploy -c env={environment} '**'`")
    return str(answer["Parameter"]["Value"])


def _days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += timedelta(days=1)


def _rows(account: Account, bucket: str, key: str) -> Sequence[dict[str, Any]] | None:
    answer = account.find(_ABSENT, account.s3.get_object, Bucket=bucket, Key=key)
    if answer is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        try:
            file.write_bytes(answer["Body"].read())
            with duckdb.connect() as database:
                found = database.execute("SELECT * FROM read_parquet($file)", {"file": str(file)})
                names = [column[0] for column in found.description or ()]
                return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        except (duckdb.Error, OSError) as error:
            raise AwsError(f"s3://{bucket}/{key} cannot be read: {str(error).splitlines()[0]}") from error


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
        found = read(Account(named.region), named.name, begin, end)
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


def _document(environment: str, first: date, last: date, by: By, found: LedgerDays) -> dict[str, object]:
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
