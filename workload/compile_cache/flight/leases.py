"""Holding a graph's lease: taken, kept alive by a thread while the compiler runs, and given back with the outcome."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from fleet.compile_cache import lease
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row, Terms
from workload.errors import LeaseTableError


class LeaseTable(Protocol):
    """The rows of all graphs, the same for every node."""

    def read(self, graph: Graph) -> Row | None:
        """The row as it is now, not as it was. Raises LeaseTableError."""
        ...

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        """Write ``new`` if the row still has the revision of ``seen``; whether it was written. Raises LeaseTableError.

        A write whose answer was lost may say False although it was written.
        """
        ...


def take(table: LeaseTable, graph: Graph, seen: Row | None, holder: str, terms: Terms) -> "Held | None":
    """The lease, if nobody was faster. Raises LeaseTableError."""
    row = lease.take(seen, holder, time.time(), terms)
    # Holders are unique, so a row that says exactly this is ours: the answer to our first attempt was lost.
    is_ours = table.swap(graph, seen, row) or table.read(graph) == row
    return Held(table, graph, row, terms) if is_ours else None


class Held:
    """A lease that this process holds. Used as a context, it renews itself until the context ends.

    Attributes: ``terms``, ``holder``, and ``token``, the fencing token.
    """

    def __init__(self, table: LeaseTable, graph: Graph, row: Row, terms: Terms) -> None:
        self._table, self._graph, self._row = table, graph, row
        self.terms, self.holder, self.token = terms, row.holder, row.token
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {graph.module}", daemon=True)
        self._is_over = False

    def __enter__(self) -> "Held":
        """Begin to renew."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop renewing. What was not said before is said by the lease's end."""
        self._ended.set()
        self._thread.join()

    def confirm(self) -> bool:
        """Whether the token still holds; to be asked right before promoting. Raises LeaseTableError."""
        return self._change(lambda row, now: lease.confirm(row, now, self.terms))

    def finish(self, seconds: float) -> bool:
        """The graph is in the shared tier; ``seconds`` is what its compilation took. Raises LeaseTableError."""
        return self._change(lambda row, now: lease.finish(row, seconds, now), is_last=True)

    def fail(self, reason: str) -> bool:
        """The compiler refused the graph. Raises LeaseTableError."""
        return self._change(lambda row, now: lease.fail(row, reason, now, self.terms), is_last=True)

    def release(self) -> bool:
        """Let another try. Raises LeaseTableError."""
        return self._change(lease.release, is_last=True)

    def _change(self, change: Callable[[Row, float], Row], *, is_last: bool = False) -> bool:
        with self._lock:
            if self._is_over:
                return False
            # Twice: a change whose answer was lost has given the row another revision, and it is ours all the same.
            for _ in range(2):
                new = change(self._row, time.time())
                seen = new if self._table.swap(self._graph, self._row, new) else self._table.read(self._graph)
                if seen is None or (seen.token, seen.holder) != (self.token, self.holder):
                    break
                self._row = seen
                if seen == new:
                    self._is_over = is_last
                    return True
            self._is_over = True
            return False

    def _keep(self) -> None:
        # A compiler that hangs must not keep a whole fleet waiting.
        end = time.monotonic() + self.terms.longest
        while not self._ended.wait(self.terms.renewal) and time.monotonic() < end:
            try:
                if not self._change(lambda row, now: lease.renew(row, now, self.terms)):
                    return
            except LeaseTableError:
                # The next turn may still be in time.
                continue
