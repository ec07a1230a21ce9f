"""The cold tier: a model's graphs in S3, one tar file each and an index that is written last.

Without its index an artifact is not there. Where one of its graphs lies is also told by the graph's own name
(``fleet.compile_cache.whereabouts``). What comes back is compared with its manifest, byte by byte, before it is
promoted.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fleet.compile_cache import index as indices
from fleet.compile_cache import whereabouts
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import ArtifactIndexError, Index
from workload.compile_cache.tiers import files, packing, promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, ColdTierError


class Objects(Protocol):
    """A bucket. Everything raises ColdTierError."""

    def has(self, key: str) -> bool:
        """Whether there is such an object."""
        ...

    def upload(self, path: Path, key: str) -> None:
        """A file."""
        ...

    def download(self, key: str, path: Path) -> None:
        """An object into a file."""
        ...


@dataclass(frozen=True, slots=True)
class ColdReport:
    """Graphs that were moved, and that were there already."""

    prefix: str
    moved: int = 0
    present: int = 0


@dataclass(frozen=True, slots=True)
class ColdTier:
    """``objects`` in S3, for the graphs of ``shared``; what is on its way lies on ``local`` disk."""

    objects: Objects
    shared: SharedTier
    local: LocalTier

    def archive(self, artifact: Artifact, graphs: Iterable[Graph]) -> ColdReport:
        """Upload those graphs, and then the index that makes an artifact of them.

        Raises:
            CacheError: one of them is not in the shared tier, or is damaged, or S3 refuses. There is no index then.
        """
        graphs, moved = sorted(graphs), 0
        with self._workshop() as place:
            for graph in graphs:
                key = indices.graph_key(artifact, graph)
                if not self.objects.has(key):
                    self._upload(graph, key, place)
                    moved += 1
                # Only now, and again where it is there: it may name an artifact that is gone.
                (place / "whereabouts").write_bytes(whereabouts.encode(graph, key))
                self.objects.upload(place / "whereabouts", whereabouts.key(graph))
            (place / indices.NAME).write_bytes(Index(artifact, tuple(graphs)).encode())
            self.objects.upload(place / indices.NAME, indices.key(artifact))
        return ColdReport(artifact.prefix, moved, len(graphs) - moved)

    def restore(self, artifact: Artifact) -> ColdReport:
        """Promote the artifact's graphs that the shared tier does not have.

        Raises:
            CacheError: there is no such artifact, one of its graphs is damaged, or S3 or a disk fails.
        """
        with self._workshop() as place:
            self.objects.download(indices.key(artifact), place / indices.NAME)
            graphs = _index(place / indices.NAME, artifact)
            shown = self.shared.listing()
            missing = [graph for graph in graphs if graph not in shown]
            for graph in missing:
                self.objects.download(indices.graph_key(artifact, graph), place / "graph.tar")
                files.make_folder(f"{place}/graph")
                manifest = packing.unpack(place / "graph.tar", place / "graph", graph)
                staged = promotion.stage(
                    self.shared,
                    graph,
                    f"{place}/graph",
                    token=manifest.token,
                    seconds=manifest.seconds,
                    holder=manifest.holder,
                )
                promotion.publish(self.shared, staged)
                files.remove_tree(f"{place}/graph")
        return ColdReport(artifact.prefix, len(missing), len(graphs) - len(missing))

    def _upload(self, graph: Graph, key: str, place: Path) -> None:
        if self.shared.fetch(graph, f"{place}/graph") is None:
            raise CacheError(f"{graph}: not in the shared tier, so the artifact would not be whole")
        packing.pack(place / "graph", place / "graph.tar")
        self.objects.upload(place / "graph.tar", key)
        files.remove_tree(f"{place}/graph")

    @contextmanager
    def _workshop(self) -> Iterator[Path]:
        try:
            with tempfile.TemporaryDirectory(dir=self.local.own) as place:
                yield Path(place)
        except OSError as error:
            raise CacheError(f"cold tier: {error}") from error


def _index(path: Path, artifact: Artifact) -> tuple[Graph, ...]:
    try:
        return indices.decode(path.read_bytes(), artifact).graphs
    except ArtifactIndexError as error:
        raise ColdTierError(str(error)) from error
