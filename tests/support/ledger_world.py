"""The ledger's bucket and the bill in memory, and what CloudWatch Logs would have put there."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import duckdb

from fleet.ledger import Line
from fleet.ledger.columns import LEDGER, line_of, place
from lambdas.cost_report.adapters import Dependencies
from lambdas.cost_report.bill import Billed, BillUnavailableError, CostExplorer
from lambdas.cost_report.store import S3Store, StoredObject

NOW = datetime(2026, 11, 20, 12, 5, tzinfo=UTC)
DAY = date(2026, 11, 20)


def batch(events: Iterable[Mapping[str, Any] | str], kind: str = "DATA_MESSAGE") -> bytes:
    """Log events as a subscription hands them to Firehose."""
    messages = [event if isinstance(event, str) else json.dumps(event) for event in events]
    entries = [{"id": str(n), "timestamp": 0, "message": message} for n, message in enumerate(messages)]
    return gzip.compress(json.dumps({"messageType": kind, "logGroup": "nodes", "logEvents": entries}).encode())


class MemoryStore:
    """Objects by key; every write is a moment later than the one before."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.refuses: set[str] = set()
        self._moment = NOW

    def below(self, prefix: str, after: str = "") -> Sequence[StoredObject]:
        return [
            StoredObject(key, len(content), at)
            for key, (content, at) in sorted(self.objects.items())
            if key.startswith(prefix) and key > after
        ]

    def read(self, key: str) -> bytes | None:
        return self.objects[key][0] if key in self.objects else None

    def fetch(self, key: str, target: Path) -> None:
        target.write_bytes(self.objects[key][0])

    def send(self, source: Path | bytes, key: str) -> None:
        if any(key.startswith(refused) for refused in self.refuses):
            raise OSError(f"no place for {key}")
        self._moment += timedelta(seconds=1)
        self.objects[key] = (source if isinstance(source, bytes) else source.read_bytes(), self._moment)


class MemoryBill:
    """Days as they are put in; without any it cannot be had."""

    def __init__(self) -> None:
        self.days: dict[date, Billed] | None = None

    def of(self, first: date, end: date) -> Mapping[date, Billed]:
        if self.days is None:
            raise BillUnavailableError("ClientError: Cost Explorer is not enabled")
        return {day: billed for day, billed in self.days.items() if first <= day < end}


class LedgerWorld:
    """``arrive`` what agents send, run the service over ``world``, and read the ledger's ``lines``."""

    def __init__(self, scratch: Path) -> None:
        self.store, self.bill, self.left = MemoryStore(), MemoryBill(), 900.0
        self.scratch = scratch
        store, bill = cast("S3Store", self.store), cast("CostExplorer", self.bill)
        self.world = Dependencies(store, bill, scratch, lambda: self.left)

    def arrive(self, hour: str, *events: Mapping[str, Any] | str, name: str = "0") -> None:
        self.store.send(batch(events), f"events/arrived={hour}/{name}.gz")

    def lines(self, day: date = DAY, environment: str = "prod") -> tuple[Line, ...]:
        file = self.scratch / "read.parquet"
        self.store.fetch(place(LEDGER, environment, day), file)
        return tuple(line_of(environment, day, row) for row in rows(file))

    def row(self, key: str) -> dict[str, Any]:
        file = self.scratch / "row.parquet"
        self.store.fetch(key, file)
        (row,) = rows(file)
        return row


def rows(file: Path) -> list[dict[str, Any]]:
    with duckdb.connect() as database:
        found = database.execute("SELECT * FROM read_parquet($file)", {"file": str(file)})
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
