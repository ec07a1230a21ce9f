"""Taking out of the cache what should not be in it: damage, failures, dead locks, leftovers, and what is too old.

Whoever removes a graph from the shared tier also frees its row, so that the next who needs it compiles it at once. The
row is freed first: between the two, somebody may fetch the graph once more, and nobody waits for one that is gone.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from fleet.compile_cache import eviction, lease
from fleet.compile_cache.eviction import EvictionPolicy, Kept
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import State
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import files
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, DamagedGraphError, LeaseTableError


@dataclass(frozen=True, slots=True)
class CleanReport:
    """Graphs that were removed, by tier; folders that killed writers had left; and what could not be removed, why."""

    local: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    leftovers: int = 0
    bytes: int = 0
    problems: tuple[str, ...] = ()


def purge(look: Lookup, table: LeaseTable | None, named: Iterable[Graph] = ()) -> CleanReport:
    """Remove what the compiler remembers as failed, locks of dead compilers, damage, leftovers, and ``named`` graphs.

    Nothing that somebody works on is touched. Without a ``table`` the shared tier is left alone, as a node must do that
    may not write it.

    Raises:
        CacheError: a tier cannot be listed.
    """
    named, problems, shared, leftovers = frozenset(named), [], [], 0
    try:
        local = [graph for graph in look.local.graphs() if _clear(look, graph, is_named=graph in named)]
        if table is not None:
            for graph in sorted(look.shared.listing()):
                if graph in named or _is_damaged(look.shared, graph):
                    problem = remove(look.shared, table, graph)
                    problems += [problem] if problem else []
                    shared += [] if problem else [str(graph)]
            for graph in named:
                free(table, graph)
            leftovers = _sweep(look.shared)
    except (OSError, LeaseTableError) as error:
        raise CacheError(f"purge: {error}") from error
    return CleanReport(tuple(map(str, local)), tuple(shared), leftovers, problems=tuple(problems))


def evict(shared: SharedTier, table: LeaseTable, policy: EvictionPolicy, *, really: bool = True) -> CleanReport:
    """Remove the shared tier's graphs that ``policy`` lets go of; not ``really``: say which they would be.

    Raises:
        CacheError: the tier cannot be listed.
    """
    try:
        kept = [entry for graph in shared.listing() if (entry := _kept(shared, graph)) is not None]
        chosen = eviction.choose(kept, policy, time.time())
        problems: list[str] = []
        gone = []
        for entry in chosen:
            problem = remove(shared, table, entry.graph) if really else ""
            problems += [problem] if problem else []
            gone += [] if problem else [entry]
        leftovers = _sweep(shared) if really else len(shared.leftovers(time.time()))
    except OSError as error:
        raise CacheError(f"evict: {error}") from error
    size = sum(entry.size for entry in gone)
    return CleanReport((), tuple(str(entry.graph) for entry in gone), leftovers, size, tuple(problems))


def remove(shared: SharedTier, table: LeaseTable, graph: Graph) -> str:
    """Take a graph out of the shared tier; why not, or nothing."""
    try:
        if not free(table, graph):
            return f"{graph}: somebody compiles or promotes it now"
        shared.discard(graph)
    except (OSError, LeaseTableError) as error:
        return f"{graph}: {error}"
    return ""


def free(table: LeaseTable, graph: Graph) -> bool:
    """Let the graph be compiled again, and forget its failures; False while a live holder has it.

    Raises:
        LeaseTableError: the table does not answer.
    """
    row = table.read(graph)
    if row is None or row.state is State.FREE:
        return True
    now = time.time()
    if row.state in {State.COMPILING, State.PROMOTING} and now <= row.until:
        return False
    return table.swap(graph, row, lease.release(row, now))


def _clear(look: Lookup, graph: Graph, *, is_named: bool) -> bool:
    if is_named:
        look.local.discard(graph)
        return True
    return look.local.clear(graph)


def _is_damaged(shared: SharedTier, graph: Graph) -> bool:
    """Whether its manifest and its files disagree about more than content, which would take reading all of it."""
    try:
        manifest = shared.find(graph)
        return manifest is not None and not shared.has_files(manifest)
    except DamagedGraphError:
        return True


def _kept(shared: SharedTier, graph: Graph) -> Kept | None:
    try:
        manifest = shared.find(graph)
    except DamagedGraphError:
        return None
    return None if manifest is None else Kept(graph, manifest.promoted, manifest.size)


def _sweep(shared: SharedTier) -> int:
    leftovers = shared.leftovers(time.time())
    for folder in leftovers:
        files.remove_tree(folder)
    return len(leftovers)
