"""The ledger's files, as they lie in S3 or at whatever endpoint the command is given."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import duckdb

from cli.account import Account, AwsError
from fleet import naming
from fleet.ledger.columns import LEDGER, RECONCILIATION, line_of, place
from fleet.ledger.lines import Line

_ABSENT: Final = ("NoSuchKey", "404")


class NoLedgerError(AwsError):
    """There is none to read; one line."""


@dataclass(frozen=True, slots=True)
class Books:
    """Lines of the days asked for; ``reconciled`` rows by day; ``missing`` days have no ledger at all."""

    lines: tuple[Line, ...]
    reconciled: dict[date, dict[str, Any]]
    missing: tuple[date, ...]


def read(account: Account, environment: str, first: date, last: date) -> Books:
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
    return Books(tuple(lines), reconciled, tuple(missing))


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
