"""Graphs that are ready in S3, one at a time, into a node's own tier: what the shared tier has let go of.

It never raises: whatever is wrong with S3, with an object or with the disk is a miss. That is said once, and for
minutes no process of the node asks for it again, because a job starts a process for each graph and each rank.
"""

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol

from fleet.compile_cache import whereabouts
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest
from fleet.compile_cache.whereabouts import WhereaboutsError
from workload.compile_cache.tiers import files, packing
from workload.compile_cache.tiers.local import LocalTier
from workload.errors import CacheError, ColdTierError, DamagedGraphError

# A graph of a gigabyte takes half a minute at what one connection to S3 brings; compiling it takes longer than this.
LONGEST: Final = timedelta(minutes=5)
# How long an answer counts for all processes of the node: longer than its ranks take to ask for one graph.
REMEMBERED: Final = timedelta(minutes=5)
_MEMORY: Final = "store"
_AWAY: Final = "S3"


class Ready(Protocol):
    """The bucket, for a role that may read objects and not list them."""

    def fetch(self, key: str, path: Path, end: float) -> bool:
        """An object into a file, before ``end`` on the monotonic clock; False when there is none.

        Raises ColdTierError, OSError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Store:
    """``objects`` in S3, for the ``local`` tier. ``say`` is told in one line what is wrong."""

    objects: Ready
    local: LocalTier
    say: Callable[[str], None]
    longest: timedelta = LONGEST

    def restore(self, graph: Graph) -> Manifest | None:
        """From S3 to local disk, by one rename; None when it is not there, or could not be had."""
        if self._remembers(_AWAY) or self._remembers(str(graph)):
            return None
        place = Path(self.local.new_folder())
        try:
            files.make_folder(str(place))
            manifest = self._bring(graph, place)
        except (DamagedGraphError, WhereaboutsError) as error:
            self._remember(str(graph))
            self.say(f"S3: {error}; it is not used")
            return None
        except (CacheError, OSError) as error:
            self._remember(_AWAY)
            minutes = REMEMBERED // timedelta(minutes=1)
            self.say(f"S3: {error}; this node does without what is ready there for {minutes} min")
            return None
        finally:
            files.remove_tree(str(place))
        if manifest is None:
            self._remember(str(graph))
        return manifest

    def _bring(self, graph: Graph, place: Path) -> Manifest | None:
        if not _within(self.longest, lambda end: self._download(graph, place, end)):
            return None
        folder = place / "graph"
        files.make_folder(str(folder))
        manifest = packing.unpack(place / "graph.tar", folder, graph)
        return manifest if self.local.accept(graph, str(folder)) else None

    def _download(self, graph: Graph, place: Path, end: float) -> bool:
        told = place / "whereabouts.json"
        if not self.objects.fetch(whereabouts.key(graph), told, end):
            return False
        archive = whereabouts.decode(files.read_small(str(told), whereabouts.MOST_BYTES), graph)
        return self.objects.fetch(archive, place / "graph.tar", end)

    def _remembers(self, what: str) -> bool:
        try:
            age = time.time() - self._mark(what).stat().st_mtime
        except OSError:
            return False
        return 0 <= age < REMEMBERED.total_seconds()

    def _remember(self, what: str) -> None:
        # Where it cannot be written down it is asked again.
        with contextlib.suppress(OSError):
            self._mark(what).parent.mkdir(exist_ok=True)
            self._mark(what).touch()

    def _mark(self, what: str) -> Path:
        return self.local.own / _MEMORY / hashlib.sha256(what.encode()).hexdigest()


def _within(longest: timedelta, work: Callable[[float], bool]) -> bool:
    """What ``work`` says, which is given the end of its time; in a thread, because a name server too may not answer.

    Raises:
        ColdTierError: it took too long. The thread ends with its next block, or with the process.
    """
    seconds = longest.total_seconds()
    said: list[bool] = []
    wrong: list[Exception] = []

    def run() -> None:
        try:
            said.append(work(time.monotonic() + seconds))
        except (CacheError, WhereaboutsError, OSError) as error:
            wrong.append(error)
        except Exception as error:
            # A miss, whatever a client of AWS may think of.
            wrong.append(ColdTierError(f"{type(error).__name__}: {error}"))

    thread = threading.Thread(target=run, name="compile cache store", daemon=True)
    thread.start()
    thread.join(seconds)
    if wrong:
        raise wrong[0]
    if not said:
        raise ColdTierError(f"nothing came of it within {seconds:.0f} s")
    return said[0]
