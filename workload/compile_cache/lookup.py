"""Looking for a graph in the two tiers that a node has, and copying it to local disk when the shared one has it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fleet.compile_cache.figures import Obtained, Source
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, DamagedGraphError

_LOOK_AGAIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Lookup:
    """``local`` and ``shared`` as this node has them mounted."""

    local: LocalTier
    shared: SharedTier
    sleep: Callable[[float], None] = time.sleep

    def once(self, graph: Graph, started: float) -> Obtained | None:
        """The graph, if it is in a tier as far as this node sees. ``started`` on the monotonic clock.

        Raises:
            CacheError: the local disk fails.
        """
        try:
            if self.local.has(graph):
                return Obtained(Source.LOCAL, time.monotonic() - started)
        except OSError as error:
            raise CacheError(f"{self.local.folder(graph)}: {error.strerror or error}") from error
        try:
            manifest = self.fetch(graph)
        except (DamagedGraphError, OSError):
            # What lasts is found by whoever takes the lease; what does not is over by then.
            return None
        return None if manifest is None else _fetched(manifest, started)

    def patiently(self, graph: Graph, started: float, seconds: float, *, is_expected: bool) -> Obtained | None:
        """The graph, after looking until what the shared tier shows can be believed. For the lease's holder only.

        One that ``is_expected`` and does not show is looked for that long. One that stays damaged is removed.
        """
        believed = time.monotonic() + seconds
        while True:
            is_damaged = False
            try:
                manifest = self.fetch(graph)
            except DamagedGraphError:
                manifest, is_damaged = None, True
            except OSError:
                return None
            if manifest is not None:
                return _fetched(manifest, started)
            if not is_damaged and not is_expected:
                return None
            if time.monotonic() > believed:
                if is_damaged:
                    self._discard(graph)
                return None
            self.sleep(min(_LOOK_AGAIN, seconds / 10))

    def fetch(self, graph: Graph) -> Manifest | None:
        """From the shared tier to local disk; None when it does not show, or a compiler is at work on it here.

        Raises as ``SharedTier.fetch`` does.
        """
        arrived = self.local.new_folder()
        manifest = self.shared.fetch(graph, arrived)
        return manifest if manifest is not None and self.local.accept(graph, arrived) else None

    def _discard(self, graph: Graph) -> None:
        try:
            self.shared.discard(graph)
        except OSError:
            # A node that may not write leaves it; the one that promotes meets the same and says so.
            return


def _fetched(manifest: Manifest, started: float) -> Obtained:
    return Obtained(Source.FETCHED, time.monotonic() - started, manifest.seconds)
