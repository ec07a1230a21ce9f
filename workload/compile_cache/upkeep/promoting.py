"""Promoting what lies on local disk: after a precompilation, whose compiler knows nothing of leases."""

import time
from dataclasses import dataclass, field
from uuid import uuid4

from fleet.compile_cache import lease
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Step, Terms
from workload.compile_cache.entry import State, read
from workload.compile_cache.flight import leases
from workload.compile_cache.flight.compiling import promote
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.lookup import Lookup
from workload.errors import CacheError, LeaseTableError


@dataclass(slots=True)
class PromoteReport:
    """Graphs: newly promoted, there already, and by state those that are not finished. ``problems`` in words."""

    promoted: int = 0
    present: int = 0
    unfinished: dict[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def promote_all(look: Lookup, table: LeaseTable, terms: Terms | None = None) -> PromoteReport:
    """Promote every finished graph of the local tier that the shared one does not show.

    Raises:
        CacheError: a tier cannot be listed.
    """
    report, holder, terms = PromoteReport(), uuid4().hex, terms or Terms()
    try:
        shown = look.shared.listing()
        for graph in look.local.graphs():
            state = look.local.state(graph)
            if graph in shown:
                report.present += 1
            elif state is State.SUCCEEDED:
                problem = _promote(look, table, graph, holder, terms)
                report.promoted += not problem
                report.problems += (problem,) if problem else ()
            elif state is not None:
                report.unfinished[state.value] = report.unfinished.get(state.value, 0) + 1
    except OSError as error:
        raise CacheError(f"promote: {error}") from error
    return report


def _promote(look: Lookup, table: LeaseTable, graph: Graph, holder: str, terms: Terms) -> str:
    try:
        row = table.read(graph)
        is_failed = row is not None and row.state is lease.State.FAILED
        if not is_failed and lease.advise(row, time.time(), terms).step is not Step.TAKE:
            return f"{graph}: somebody else compiles or promotes it now"
        held = leases.take(table, graph, row, holder, terms)
    except LeaseTableError as error:
        return str(error)
    if held is None:
        return f"{graph}: somebody else compiles or promotes it now"
    with held:
        return promote(look, graph, held, _seconds(look, graph))


def _seconds(look: Lookup, graph: Graph) -> float:
    """What its compilation took, as its files show it; 0 where they do not."""
    entry = read(look.local.folder(graph))
    if entry is None or entry.input is None or entry.done is None:
        return 0.0
    return max(0.0, (entry.done - entry.input) / 1e9)
