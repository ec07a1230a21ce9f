"""Lease tables without AWS: one in memory, and one in a file for many processes."""

import json
import sqlite3
import threading
from dataclasses import asdict
from pathlib import Path

from agents.workload.compile_cache.errors import LeaseTableError
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row, State


class MemoryTable:
    """Rows of one process. ``is_down`` refuses everything; ``loses_answers`` writes and says that it did not."""

    def __init__(self) -> None:
        self.rows: dict[Graph, Row] = {}
        self.history: list[Row] = []
        self.is_down = False
        self.loses_answers = 0
        self._lock = threading.Lock()

    def read(self, graph: Graph) -> Row | None:
        if self.is_down:
            raise LeaseTableError("the lease table did not answer")
        return self.rows.get(graph)

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        if self.is_down:
            raise LeaseTableError("the lease table did not answer")
        with self._lock:
            row = self.rows.get(graph)
            if (row.revision if row else 0) != (seen.revision if seen else 0):
                return False
            self.rows[graph] = new
            self.history.append(new)
        if self.loses_answers:
            self.loses_answers -= 1
            return False
        return True


class FileTable:
    """Rows that many processes share. Opened anew after a fork."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute("CREATE TABLE IF NOT EXISTS leases (graph TEXT PRIMARY KEY, revision INT, row TEXT)")
        self._lock = threading.Lock()

    def read(self, graph: Graph) -> Row | None:
        with self._lock:
            found = self._connection.execute("SELECT row FROM leases WHERE graph = ?", (str(graph),)).fetchone()
        if found is None:
            return None
        fields = json.loads(found[0])
        return Row(**fields | {"state": State(fields["state"])})

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        values = (new.revision, json.dumps(asdict(new)), str(graph))
        with self._lock:
            if seen is None:
                statement = "INSERT OR IGNORE INTO leases (revision, row, graph) VALUES (?, ?, ?)"
                return self._connection.execute(statement, values).rowcount == 1
            statement = "UPDATE leases SET revision = ?, row = ? WHERE graph = ? AND revision = ?"
            return self._connection.execute(statement, (*values, seen.revision)).rowcount == 1

    def rows(self) -> list[Row]:
        with self._lock:
            found = [json.loads(row) for (row,) in self._connection.execute("SELECT row FROM leases")]
        return [Row(**fields | {"state": State(fields["state"])}) for fields in found]
