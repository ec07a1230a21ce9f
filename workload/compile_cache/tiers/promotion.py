"""Promoting: a compiled graph into the shared tier, all of it or nothing, whenever the writer dies.

It is written into ``.promoting``, its manifest last, waited for until the server has it, and renamed. Where a graph of
that name is already, the rename fails and the one that is there stays.
"""

import time
from dataclasses import dataclass
from uuid import uuid4

from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import FileRecord, Manifest
from workload.compile_cache.tiers import content, files
from workload.compile_cache.tiers.shared import PROMOTING, SharedTier
from workload.errors import CacheError, DamagedGraphError


@dataclass(frozen=True, slots=True)
class Staged:
    """A graph that is whole and on the server, under a name that no reader looks at."""

    folder: str
    manifest: Manifest


def stage(shared: SharedTier, graph: Graph, source: str, *, token: int, seconds: float, holder: str) -> Staged:
    """Copy a compiled graph from ``source`` to where nobody looks, and wait until the server has it.

    Raises:
        CacheError: a folder or a strange name is among its files.
        OSError: one of the file systems fails.
    """
    found = [(name, size) for name, size in files.regular_files(source) if _is_promoted(name)]
    for name, _ in found:
        if not manifests.is_file_name(name):
            raise CacheError(f"{source}/{name}: not a file that the compiler writes; the graph is not promoted")
    files.have_folder(f"{shared.root}/{PROMOTING}")
    folder = f"{shared.root}/{PROMOTING}/{graph.module}.{token}.{uuid4().hex}"
    files.make_folder(folder)
    files.open_to_readers(folder)
    records = tuple(
        FileRecord(name, size, content.copy(f"{source}/{name}", f"{folder}/{name}", size, through=True))
        for name, size in found
    )
    manifest = Manifest(graph, records, token, round(seconds, 3), time.time(), holder)
    # Last: a folder with a manifest is a whole one.
    files.write_new(f"{folder}/{manifests.NAME}", manifest.encode(), through=True)
    files.sync_folder(folder)
    return Staged(folder, manifest)


def publish(shared: SharedTier, staged: Staged) -> bool:
    """Show a staged graph to readers; False when one of that name is there, which then stays.

    Raises OSError.
    """
    graph = staged.manifest.graph
    files.have_folder(f"{shared.root}/{graph.version}")
    try:
        is_new = files.move_new(staged.folder, shared.folder(graph))
    except FileNotFoundError:
        # The server's answer was lost, and the request was sent again: the first one has done it.
        if not _is_ours(shared, staged):
            raise
        is_new = True
    if is_new:
        files.sync_folder(f"{shared.root}/{graph.version}")
    else:
        files.remove_tree(staged.folder)
    return is_new


def _is_ours(shared: SharedTier, staged: Staged) -> bool:
    try:
        return shared.find(staged.manifest.graph) == staged.manifest
    except DamagedGraphError:
        return False


def drop(staged: Staged) -> None:
    """Give a staged graph up."""
    files.remove_tree(staged.folder)


def _is_promoted(name: str) -> bool:
    return not name.endswith(manifests.LOCK_SUFFIX) and name != manifests.NAME
