"""Compiled graphs from S3 onto local disk before the model is loaded, and the comparison that readiness asks for.

Nothing is compiled here and nothing may be: ``on_miss`` of the settings is REFUSE for an endpoint. A graph that its
artifact does not have would hold up every request for minutes, and is an error in place of that.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fleet.compile_cache import index as indices
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import ArtifactIndexError
from fleet.compile_cache.manifest import NAME as MANIFEST
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers.cold import ColdTier, Objects
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError

_STAGE: Final = "artifact"


def bring(artifact: Artifact, objects: Objects, local: LocalTier, scratch: Path) -> tuple[Graph, ...]:
    """Put the graphs of ``artifact`` onto local disk, and say which they are. ``scratch`` holds them on their way.

    Raises:
        CacheError: there is no such artifact, one of its graphs is damaged, or S3 or a disk fails.
    """
    index = scratch / indices.NAME
    stage = scratch / _STAGE
    stage.mkdir(parents=True, exist_ok=True)
    objects.download(indices.key(artifact), index)
    try:
        graphs = indices.decode(index.read_bytes(), artifact).graphs
    except ArtifactIndexError as error:
        raise CacheError(str(error)) from error
    missing = [graph for graph in graphs if not _is_here(local, graph)]
    if missing:
        shared = SharedTier(stage)
        ColdTier(objects, shared, local).restore(artifact)
        _fetch(missing, Lookup(local, shared))
    return graphs


def wrong_with(artifact: Artifact, graphs: Sequence[Graph], local: LocalTier) -> str:
    """What of the artifact's graphs on local disk is not as their manifests say; empty: nothing.

    Every byte is read: gigabytes take seconds, and this is done once, before requests come.
    """
    if not graphs:
        return f"{artifact.prefix}: its index names no graph"
    for graph in graphs:
        if not local.has(graph):
            return f"{graph}: not on local disk"
        if not (local.folder(graph) / MANIFEST).is_file():
            return f"{graph}: has no manifest, so it was compiled here and not by whoever made the artifact"
        if not local.is_intact(graph):
            return f"{graph}: its content is not what its manifest says"
    return ""


def _fetch(graphs: Sequence[Graph], look: Lookup) -> None:
    for graph in graphs:
        try:
            # What is there is not as promoted, and would stay: the cache leaves compiled graphs alone.
            look.local.discard(graph)
            if look.fetch(graph) is None:
                raise CacheError(f"{graph}: a compiler is at work on it here")
        except OSError as error:
            raise CacheError(f"{graph}: {error.strerror or error}") from error


def _is_here(local: LocalTier, graph: Graph) -> bool:
    return local.has(graph) and (local.folder(graph) / MANIFEST).is_file() and local.is_intact(graph)
