"""Lease tables without AWS: one in memory, and one in a file for many processes."""

import json
import os
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row, State
from workload.errors import LeaseTableError


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
    """Rows that many processes share: a folder for each, and in it a file for each revision, which exists or does not.

    A conditional write is a hard link that fails where there is one, so a kill leaves the old row or the new. No
    locks, which tests lose on purpose, and no SQLite, whose log breaks under many writers before 3.51.3.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def read(self, graph: Graph) -> Row | None:
        try:
            revisions = [int(path.name) for path in (self._folder / graph.module).iterdir()]
        except FileNotFoundError:
            return None
        if not revisions:
            return None
        fields = json.loads((self._folder / graph.module / str(max(revisions))).read_bytes())
        return Row(**fields | {"state": State(fields["state"])})

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        assert new.revision == (seen.revision if seen else 0) + 1
        (self._folder / graph.module).mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._folder) as written:
            written.write(json.dumps(asdict(new)).encode())
            written.flush()
            try:
                os.link(written.name, self._folder / graph.module / str(new.revision))
            except FileExistsError:
                return False
        return True
