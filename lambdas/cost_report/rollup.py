"""The arithmetic of a day, in DuckDB: minutes that came twice or in parts count once, and the rest is added up.

An hour at a time, so that memory does not grow with the fleet: whatever stands for the same minute lies in the same
hour. The rules are ``fleet.ledger``'s, which a test holds these queries against.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import duckdb

from fleet.ledger.amounts import UNITS
from fleet.ledger.columns import COLUMNS
from fleet.ledger.node_minute import Category

_HOUR: Final = 3600
PART: Final = (
    "STRUCT(job VARCHAR, owner VARCHAR, units BIGINT, amount BIGINT, wasted BIGINT, core_minutes DOUBLE, "
    "busy_core_minutes DOUBLE, useful_core_minutes DOUBLE, tokens DOUBLE, samples DOUBLE, step BIGINT)[]"
)
_PRICE: Final = {
    "price_kind": "VARCHAR",
    "price_source": "VARCHAR",
    "price_as_of": "VARCHAR",
    "price_micro_usd_per_hour": "BIGINT",
}
_TEXTS: Final = {"fleet": "VARCHAR", "instance_type": "VARCHAR"}
NODE_ROWS: Final[Mapping[str, str]] = {
    "node": "VARCHAR",
    "minute": "BIGINT",
    "boot_id": "VARCHAR",
    "seq": "BIGINT",
    "unseen": "BOOLEAN",
    "recovered": "BOOLEAN",
    **_TEXTS,
    "category": "VARCHAR",
    **_PRICE,
    "parts": PART,
}
RESERVED_ROWS: Final[Mapping[str, str]] = {
    "minute": "BIGINT",
    **_TEXTS,
    "owner": "VARCHAR",
    "unused": "BIGINT",
    "amount": "BIGINT",
    **_PRICE,
}
_PARQUET: Final = "FORMAT parquet, COMPRESSION zstd"
_TYPES: Final = {"string": "VARCHAR", "bigint": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN"}
_KEY: Final = (
    "fleet, instance_type, job, owner, category, price_kind, price_source, price_as_of, price_micro_usd_per_hour"
)
_ADDED: Final = tuple(
    (name, _TYPES[kind])
    for name, kind, _ in COLUMNS
    if kind in {"bigint", "double"} and name not in {"price_micro_usd_per_hour", "first_step", "last_step"}
)
# DuckDB adds BIGINTs up to a HUGEINT, for which Parquet has no type.
_SUMS: Final = ", ".join(f"sum({name})::{kind} AS {name}" for name, kind in _ADDED)


@dataclass(frozen=True, slots=True)
class RolledUp:
    """What came of a day: ``amount`` and ``unpriced_units`` of all lines, and the events that were not counted."""

    lines: int
    amount: int
    unpriced_units: int
    twins: int
    parts: int


def connect(scratch: Path, *, memory: str = "600MB") -> duckdb.DuckDBPyConnection:
    """A database in memory, which spills to ``scratch``; it loads no extension and calls nobody."""
    database = duckdb.connect(
        config={
            "memory_limit": memory,
            "threads": 2,
            "temp_directory": str(scratch),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    # It would go to the function's log.
    database.execute("SET enable_progress_bar = false")
    return database


def pack(database: duckdb.DuckDBPyConnection, rows: Mapping[str, str], lines: Path, target: Path) -> None:
    """Lines of JSON with the columns ``rows`` as Parquet, in the order of minutes."""
    read = f"read_json($lines, format = 'newline_delimited', columns = {columns(rows)})"
    # COPY takes no parameter for its file.
    query = f"COPY (SELECT * FROM {read} ORDER BY minute) TO {quoted(target)} ({_PARQUET})"  # noqa: S608 - our own names
    database.execute(query, {"lines": str(lines)}).fetchall()


def columns(rows: Mapping[str, str]) -> str:
    """``rows`` as DuckDB's readers take them."""
    return "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in rows.items()) + "}"


def quoted(path: Path) -> str:
    """A file's name within a query."""
    return "'" + str(path).replace("'", "''") + "'"


def roll_up(
    database: duckdb.DuckDBPyConnection, day: date, nodes: Sequence[Path], reserved: Sequence[Path], target: Path
) -> RolledUp:
    """Write the ledger of ``day`` (UTC) from the Parquet files that hold its minutes."""
    database.execute(f"CREATE OR REPLACE TEMP TABLE sums ({', '.join(f'{n} {_TYPES[k]}' for n, k, _ in COLUMNS)})")
    begin = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    twins = parts = 0
    for start in range(begin, begin + 24 * _HOUR, _HOUR) if nodes else ():
        span = {"files": [str(path) for path in nodes], "start": start, "end": start + _HOUR}
        database.execute(_HOUR_OF_NODES, span)
        again = database.execute(_DROPPED).fetchall()[0]
        twins, parts = twins + again[0], parts + again[1]
        database.execute(_BOOK_NODES)
    if reserved:
        database.execute(_BOOK_RESERVED, {"files": [str(path) for path in reserved], "units": UNITS})
    database.execute(f"COPY ({_LEDGER}) TO {quoted(target)} ({_PARQUET})").fetchall()
    lines, amount, unpriced = database.execute(_WHOLE, {"file": str(target)}).fetchall()[0]
    return RolledUp(lines, amount, unpriced, twins, parts)


_HOUR_OF_NODES: Final = """
CREATE OR REPLACE TEMP TABLE events AS
SELECT *, row_number() OVER (PARTITION BY node, minute ORDER BY unseen, recovered, seq, boot_id) AS place
FROM read_parquet($files) WHERE minute >= $start AND minute < $end
"""
_LEDGER: Final = f"""
SELECT {_KEY}, {_SUMS}, min(first_step) AS first_step, max(last_step) AS last_step
FROM sums GROUP BY {_KEY} ORDER BY {_KEY}
"""  # noqa: S608 - our own names
# Only of minutes that came more than once, which are few.
_DROPPED: Final = """
WITH several AS (SELECT DISTINCT node, minute FROM events WHERE place > 1),
of_them AS (SELECT node, minute, boot_id, seq FROM events SEMI JOIN several USING (node, minute))
SELECT (SELECT count(*) FROM of_them) - (SELECT count(*) FROM (SELECT DISTINCT * FROM of_them)),
       (SELECT count(*) FROM (SELECT DISTINCT * FROM of_them)) - (SELECT count(*) FROM several)
"""
_BOOK_NODES: Final = f"""
INSERT INTO sums BY NAME
WITH shares AS (
    SELECT * EXCLUDE (parts, part), unnest(part) FROM (SELECT *, unnest(parts) AS part FROM events WHERE place = 1)
)
SELECT {_KEY}, {_SUMS}, min(step) AS first_step, max(step) AS last_step FROM shares GROUP BY {_KEY}
"""  # noqa: S608 - our own names
_BOOK_RESERVED: Final = f"""
INSERT INTO sums BY NAME
SELECT fleet, instance_type, NULL AS job, owner, '{Category.UNALLOCATED_RESERVED.value}' AS category, price_kind,
       price_source, price_as_of, price_micro_usd_per_hour, sum(unused) * $units AS units, sum(amount) AS amount,
       sum(amount) AS wasted
FROM (
    SELECT * FROM read_parquet($files)
    QUALIFY row_number() OVER (PARTITION BY fleet, minute ORDER BY unused, amount) = 1
) WHERE unused > 0 GROUP BY ALL
"""  # noqa: S608 - our own names
_WHOLE: Final = """
SELECT count(*), coalesce(sum(amount), 0)::BIGINT,
       coalesce(sum(units) FILTER (amount IS NULL), 0)::BIGINT FROM read_parquet($file)
"""
