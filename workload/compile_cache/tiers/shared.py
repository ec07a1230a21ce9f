"""The shared tier: whole graphs on a network file system, each a folder that appears and disappears by one rename.

Nobody compiles here and nothing is locked here. A reader believes neither the file system nor the writer: it compares
every byte it copied with the manifest, because a client of NFS may see a name or a length before or after it is true.
"""

import errno
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from fleet.compile_cache import graph as graphs
from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest, ManifestError
from workload.compile_cache.tiers import content, files
from workload.errors import CacheError, DamagedGraphError

T = TypeVar("T")
PROMOTING: Final = ".promoting"
TRASH: Final = ".trash"
# A handle is stale when another client replaced what it stood for: looked up again, it is a good one.
_ATTEMPTS: Final = 4
# What a killed writer left is nobody's after a day: no promotion takes that long.
LEFTOVER_SECONDS: Final = 24 * 3600
# Copied more slowly than this, the input and the done marker get one time: the agent takes files of one second for
# fetched ones, and others for compiled ones.
_QUICK: Final = 0.5
_LOCAL_TROUBLE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


class SharedTier:
    """The folder ``root``, which must be there: it is a mount, and without it graphs would go to the disk below."""

    def __init__(self, root: Path) -> None:
        self.root, self._root = root, str(root)
        if not root.is_dir():
            raise CacheError(f"{root}: no shared compile cache is mounted there")

    def find(self, graph: Graph) -> Manifest | None:
        """A graph's manifest; None when the graph does not show.

        Raises:
            DamagedGraphError: it has none, or one that cannot be its own.
            OSError: the file system fails.
        """
        found = self._manifest(graph)
        return None if found is None else found[0]

    def fetch(self, graph: Graph, target: str) -> Manifest | None:
        """Copy a graph into the new folder ``target`` on local disk; None when it does not show.

        Raises:
            DamagedGraphError: its content is not what its manifest says. Whether that lasts, only time tells.
            CacheError: the local disk does not take it.
            OSError: the shared file system fails.
        """
        found = self._manifest(graph)
        if found is None:
            return None
        manifest, content = found
        try:
            files.make_folder(target)
            _receive(self.folder(graph), manifest, target)
            files.write_new(f"{target}/{manifests.NAME}", content, through=False)
        except OSError as error:
            files.remove_tree(target)
            if error.errno in _LOCAL_TROUBLE:
                raise CacheError(f"{target}: {error.strerror}") from error
            if error.errno in {errno.ENOENT, errno.EBADMSG}:
                raise DamagedGraphError(f"{self.folder(graph)}: {error.strerror or error}") from error
            raise
        except DamagedGraphError:
            files.remove_tree(target)
            raise
        return manifest

    def discard(self, graph: Graph) -> None:
        """Remove a graph: out of sight by one rename, then from the disk. Raises OSError."""
        files.have_folder(f"{self.root}/{TRASH}")
        grave = f"{self.root}/{TRASH}/{uuid4().hex}"
        try:
            files.move_new(self.folder(graph), grave)
        except FileNotFoundError:
            return
        files.remove_tree(grave)

    def has_files(self, manifest: Manifest) -> bool:
        """Whether a graph has the files of its manifest, with their lengths. Raises OSError."""
        folder = self.folder(manifest.graph)
        found = dict(_again(partial(files.regular_files, folder)))
        return all(found.get(record.name) == record.size for record in manifest.files)

    def listing(self) -> dict[Graph, tuple[int, int]]:
        """Every graph that shows, whole or not, with a stamp that changes when it is replaced. Raises OSError."""
        return {
            Graph(version, module): stamp
            for version in _again(lambda: files.names(str(self.root)))
            if graphs.is_version(version)
            for module, stamp in _again(partial(files.stamps, f"{self.root}/{version}")).items()
            if graphs.is_module(module)
        }

    def leftovers(self, now: float) -> tuple[str, ...]:
        """Folders that killed writers left, and that nobody will come back for. Raises OSError."""
        return tuple(
            f"{self.root}/{place}/{name}"
            for place in (PROMOTING, TRASH)
            for name, (_, changed) in files.stamps(f"{self.root}/{place}").items()
            if now - changed / 1e9 > LEFTOVER_SECONDS
        )

    def _manifest(self, graph: Graph) -> tuple[Manifest, bytes] | None:
        folder = self.folder(graph)
        try:
            content = _again(partial(files.read_small, f"{folder}/{manifests.NAME}", manifests.MOST_BYTES))
            manifest = manifests.decode(content)
        except (FileNotFoundError, NotADirectoryError):
            if not _again(partial(files.names, folder)):
                return None
            raise DamagedGraphError(f"{folder}: has no manifest, so it was not promoted") from None
        except ManifestError as error:
            raise DamagedGraphError(f"{folder}: its manifest is damaged: {error}") from error
        if manifest.graph != graph:
            raise DamagedGraphError(f"{folder}: its manifest is that of {manifest.graph}")
        return manifest, content

    def folder(self, graph: Graph) -> str:
        """Where a graph is, when it is."""
        return f"{self._root}/{graph.version}/{graph.module}"


def _receive(folder: str, manifest: Manifest, target: str) -> None:
    started = time.monotonic()
    for record in manifest.files:
        if not record.size:
            # The done marker, in each graph: there is nothing in it to ask a server for.
            files.write_new(f"{target}/{record.name}", b"", through=False)
            continue
        source, path = f"{folder}/{record.name}", f"{target}/{record.name}"
        if _again(partial(content.copy, source, path, record.size, through=False)) != record.digest:
            raise DamagedGraphError(f"{source}: its content is not what was promoted")
    if time.monotonic() - started > _QUICK:
        for record in manifest.files:
            files.touch(f"{target}/{record.name}")


def _again(work: Callable[[], T]) -> T:
    for _ in range(_ATTEMPTS - 1):
        try:
            return work()
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return work()
