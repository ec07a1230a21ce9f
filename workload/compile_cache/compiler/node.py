"""What the processes of one node share: a local tier of their own, and a lock for each graph.

The compiler's folder cannot be that tier: while the compiler is asked for a graph, whoever asks holds the lock of that
graph there. The lock here is ``flock``, which ends with the process that holds it. It is on local disk, as the tier is.
"""

import fcntl
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from fleet.compile_cache.graph import FLIGHT_FOLDER, Graph
from workload.compile_cache.tiers import files
from workload.compile_cache.tiers.local import LocalTier

_LOCKS: Final = "locks"
# Long before, who asked has it in the compiler's folder, and the agent has counted it.
_KEPT_SECONDS: Final = 24 * 3600.0


def tier(local: Path) -> LocalTier:
    """Beside the graphs in ``local``, the compiler's folder: all containers of a node have that mounted.

    Raises:
        CacheError: it is on a network file system, or cannot be made.
    """
    return LocalTier(local / FLIGHT_FOLDER)


@contextmanager
def only_one(own: LocalTier, graph: Graph) -> Iterator[None]:
    """Held by one process of this node at a time. Raises OSError."""
    folder = own.own / _LOCKS
    folder.mkdir(exist_ok=True)
    with (folder / hashlib.sha256(str(graph).encode()).hexdigest()).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sweep(own: LocalTier) -> None:
    """Remove what nobody asks for any more, and what killed processes left; trouble with it is the next one's."""
    oldest = time.time() - _KEPT_SECONDS
    with suppress(OSError):
        for graph in own.graphs():
            if own.folder(graph).stat().st_mtime < oldest:
                own.discard(graph)
        for path in own.own.iterdir():
            if path.name != _LOCKS and path.stat().st_mtime < oldest:
                files.remove_tree(str(path))
