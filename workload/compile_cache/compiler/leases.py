"""The lease table, opened by whoever really needs it: most graphs are found before, and boto3 takes its time."""

from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row
from workload.compile_cache.flight.leases import LeaseTable
from workload.errors import LeaseTableError


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
