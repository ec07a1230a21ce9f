"""What is in the tiers that a node sees."""

import time
from collections import Counter
from dataclasses import dataclass

from fleet.compile_cache.graph import Graph
from workload.compile_cache.entry import read
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, DamagedGraphError


@dataclass(frozen=True, slots=True)
class CacheStatus:
    """Graphs on local disk by state, in the shared tier by compiler version, and what the one lacks of the other.

    ``damaged`` and ``leftovers`` are of the shared tier; ``seconds`` is what compiling its graphs took, ``bytes`` their
    size.
    """

    local: dict[str, int]
    local_bytes: int
    shared: dict[str, int]
    bytes: int
    seconds: float
    missing_here: int
    not_promoted: int
    damaged: tuple[str, ...]
    leftovers: int


def status(look: Lookup) -> CacheStatus:
    """Read every graph's files on local disk, and every manifest of the shared tier.

    Raises:
        CacheError: a tier cannot be listed.
    """
    try:
        entries = {graph: entry for graph in look.local.graphs() if (entry := read(look.local.folder(graph)))}
        finished = {graph for graph, entry in entries.items() if entry.state.value == "succeeded"}
        shown = look.shared.listing()
        size, seconds, damaged = _manifests(look.shared, shown)
        return CacheStatus(
            local=dict(Counter(entry.state.value for entry in entries.values())),
            local_bytes=sum(entry.size for entry in entries.values()),
            shared=dict(Counter(graph.version for graph in shown)),
            bytes=size,
            seconds=seconds,
            missing_here=len(shown.keys() - finished),
            not_promoted=len(finished - shown.keys()),
            damaged=damaged,
            leftovers=len(look.shared.leftovers(time.time())),
        )
    except OSError as error:
        raise CacheError(f"status: {error}") from error


def _manifests(shared: SharedTier, graphs: dict[Graph, tuple[int, int]]) -> tuple[int, float, tuple[str, ...]]:
    size, seconds = 0, 0.0
    damaged = []
    for graph in sorted(graphs):
        try:
            manifest = shared.find(graph)
        except DamagedGraphError as error:
            damaged.append(str(error))
            continue
        if manifest is not None:
            size += manifest.size
            seconds += manifest.seconds
    return size, seconds, tuple(damaged)
