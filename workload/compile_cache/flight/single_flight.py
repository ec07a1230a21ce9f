"""A graph for a workload: from local disk, the shared tier or S3, or compiled, by one process of the whole fleet.

Whatever is wrong with the shared tier or the lease table costs a compilation and never the job: the graph is then
compiled for this node alone, and the outcome says why.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from fleet.compile_cache import lease
from fleet.compile_cache.figures import Obtained, Source, Tally
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Step, Terms
from fleet.string_enum import StringEnum
from workload.compile_cache.flight import leases
from workload.compile_cache.flight.compiling import Compile, compile_for_fleet, compile_locally, share_again
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.tiers.store import Store
from workload.errors import CacheError, CompilationFailedError, LeaseTableError, MissError

FIRST_WAIT: Final = 0.2
LONGEST_WAIT: Final = 10.0
_GROWTH: Final = 1.6
_SHORTEST_WAIT: Final = 0.05


class OnMiss(StringEnum):
    """What a workload may do about a graph that is in no tier.

    SHARE compiles it for the fleet, which needs a role that may write the shared tier. WAIT is for one that may only
    read: it waits for whoever compiles it for the fleet, and where nobody does, compiles it for this node. ALONE
    compiles it for this node without asking; REFUSE raises, as a server must that is not to stand still for half an
    hour.
    """

    SHARE = "share"
    WAIT = "wait"
    ALONE = "alone"
    REFUSE = "refuse"


@dataclass
class CompileCache:
    """One process's view of the cache. ``holder`` names it in the lease table, and must be its own.

    ``store``: what is ready in S3, where the process is told of it.
    """

    local: LocalTier
    shared: SharedTier
    table: LeaseTable
    on_miss: OnMiss = OnMiss.SHARE
    store: Store | None = None
    terms: Terms = field(default_factory=Terms)
    holder: str = field(default_factory=lambda: uuid4().hex)
    tally: Tally = field(default_factory=Tally)
    sleep: Callable[[float], None] = time.sleep

    def obtain(self, graph: Graph, compile_into: Compile) -> Obtained:
        """The graph, on local disk. ``compile_into`` is called with its folder there if nobody has it.

        Raises:
            CompilationFailedError: the compiler refused it, here or elsewhere.
            MissError: it would have to be compiled, and must not be.
            CacheError: the local disk does not take it.
        """
        started = time.monotonic()
        try:
            found = self._find(graph, started) or self._restore(graph, started)
            obtained = found or self._miss(graph, compile_into, started)
        except CacheError:
            self.tally.failed += 1
            raise
        self.tally.add(obtained)
        return obtained

    def _restore(self, graph: Graph, started: float) -> Obtained | None:
        # Once: whoever compiles it meanwhile puts it into the shared tier.
        manifest = self.store.restore(graph) if self.store is not None else None
        if manifest is None:
            return None
        problem = share_again(self._look, manifest) if self.on_miss is OnMiss.SHARE else ""
        return Obtained(Source.RESTORED, time.monotonic() - started, manifest.seconds, problem)

    def _miss(self, graph: Graph, compile_into: Compile, started: float) -> Obtained:
        if self.on_miss is OnMiss.REFUSE:
            raise MissError(f"{graph}: in no tier of the compile cache, and this workload must not compile")
        if self.on_miss is OnMiss.ALONE:
            return self._alone(graph, compile_into, started, "")
        try:
            return self._together(graph, compile_into, started)
        except LeaseTableError as error:
            return self._alone(graph, compile_into, started, str(error))

    def _together(self, graph: Graph, compile_into: Compile, started: float) -> Obtained:
        wait = FIRST_WAIT
        while True:
            row = self.table.read(graph)
            advice = lease.advise(row, time.time(), self.terms)
            if advice.step is Step.REFUSED and row is not None:
                raise CompilationFailedError(f"{graph}: refused after {row.failures} failures, the last: {row.reason}")
            if advice.step is Step.TAKE and self.on_miss is OnMiss.WAIT:
                return self._alone(graph, compile_into, started, "")
            if advice.step is Step.TAKE:
                held = leases.take(self.table, graph, row, self.holder, self.terms)
                if held is not None:
                    is_expected = lease.may_be_promoted(row)
                    with held:
                        return compile_for_fleet(
                            self._look, graph, compile_into, started, held, is_expected=is_expected
                        )
            self._pause(wait, advice.until)
            wait = min(wait * _GROWTH, LONGEST_WAIT)
            found = self._find(graph, started)
            if found is not None:
                return found

    def _alone(self, graph: Graph, compile_into: Compile, started: float, problem: str) -> Obtained:
        seconds = compile_locally(self._look, graph, compile_into)
        return Obtained(Source.UNSHARED, time.monotonic() - started, seconds, problem)

    def _find(self, graph: Graph, started: float) -> Obtained | None:
        return self._look.once(graph, started)

    @property
    def _look(self) -> Lookup:
        return Lookup(self.local, self.shared, self.sleep)

    def _pause(self, wait: float, until: float) -> None:
        # Spread, so that a fleet that began together does not ask together; and never long past the lease's end.
        spread = wait * random.uniform(0.5, 1.0)  # noqa: S311 - nothing is kept secret by it
        left = until - time.time() + _SHORTEST_WAIT if until else spread
        self.sleep(max(_SHORTEST_WAIT, min(spread, left)))
