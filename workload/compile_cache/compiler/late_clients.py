"""The lease table and the bucket, opened when they are first needed: most graphs are found before.

boto3 takes its time, and an image may do without it.
"""

from pathlib import Path

from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.tiers.store import Ready
from workload.errors import ColdTierError, LeaseTableError


class LateLeases:
    """The lease table called ``table`` in ``region``. Raises LeaseTableError, also where boto3 is missing."""

    def __init__(self, table: str, region: str) -> None:
        self._table, self._region = table, region
        self._opened: LeaseTable | None = None

    def read(self, graph: Graph) -> Row | None:
        """The row as it is now."""
        return self._open().read(graph)

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        """Write ``new`` if nobody wrote since ``seen``."""
        return self._open().swap(graph, seen, new)

    def _open(self) -> LeaseTable:
        if self._opened is None:
            try:
                from workload.compile_cache.adapters import DynamoLeases  # noqa: PLC0415 - see above
            except ImportError as error:
                raise LeaseTableError(f"lease table {self._table}: {error}") from error
            self._opened = DynamoLeases(self._table, self._region)
        return self._opened


class LateObjects:
    """The objects of ``bucket`` in ``region``. Raises ColdTierError, also where boto3 is missing."""

    def __init__(self, bucket: str, region: str) -> None:
        self._bucket, self._region = bucket, region
        self._opened: Ready | None = None

    def fetch(self, key: str, path: Path, end: float) -> bool:
        """An object into a file; False when there is none."""
        return self._open().fetch(key, path, end)

    def _open(self) -> Ready:
        if self._opened is None:
            try:
                from workload.compile_cache.adapters import ReadyObjects  # noqa: PLC0415 - see above
            except ImportError as error:
                raise ColdTierError(f"s3://{self._bucket}: {error}") from error
            self._opened = ReadyObjects(self._bucket, self._region)
        return self._opened
