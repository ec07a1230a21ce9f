"""From a command to an artifact: compile, verify, promote, archive. The artifact's index is written last."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from workload.compile_cache.entry import State
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.upkeep import promoting
from workload.errors import CacheError, CompilationFailedError

# A graph that a job compiles or promotes at this moment: its lease lasts a minute, or it is promoted by then.
PROMOTION_ATTEMPTS: Final = 5
PROMOTION_PAUSE: Final = 65.0
_WORDS: Final = 300


@dataclass(frozen=True, slots=True)
class PrecompileReport:
    """Graphs of the artifact under ``prefix``: all, newly promoted, newly archived; ``seconds`` of compilation."""

    prefix: str
    graphs: int
    promoted: int
    archived: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The tiers as this container has them. ``compile_all`` runs the compiler over a command; its exit code."""

    look: Lookup
    leases: LeaseTable
    cold: ColdTier
    compile_all: Callable[[Sequence[str]], int]
    sleep: Callable[[float], None] = time.sleep

    def run(self, artifact: Artifact, command: Sequence[str]) -> PrecompileReport:
        """Make the artifact.

        Raises:
            CacheError: it could not be made; the message is one line. What was promoted stays, and harms nobody.
        """
        local = self.look.local
        if local.graphs():
            raise CacheError(f"{local.root}: holds graphs already; a precompilation needs a folder of its own")
        began = time.monotonic()
        code = self.compile_all(command)
        seconds = time.monotonic() - began
        graphs = verify(local, code)
        promoted = self._promote()
        archived = self.cold.archive(artifact, graphs)
        return PrecompileReport(artifact.prefix, len(graphs), promoted, archived.moved, round(seconds, 3))

    def _promote(self) -> int:
        promoted = 0
        for attempt in range(1, PROMOTION_ATTEMPTS + 1):
            report = promoting.promote_all(self.look, self.leases)
            promoted += report.promoted
            if not report.problems:
                return promoted
            if attempt < PROMOTION_ATTEMPTS:
                self.sleep(PROMOTION_PAUSE)
        raise CacheError(f"{len(report.problems)} graphs could not be promoted, such as {report.problems[0]}")


def verify(local: LocalTier, code: int) -> list[Graph]:
    """The graphs that were compiled: all that there are, and at least one.

    Looked at in the files, because an exit code has eight bits: 256 failed graphs would be a success.

    Raises:
        CompilationFailedError: one is not compiled, there is none, or the compiler ended with another ``code`` than 0.
    """
    states = {graph: local.state(graph) for graph in sorted(local.graphs())}
    compiled = [graph for graph, state in states.items() if state is State.SUCCEEDED]
    others = {graph: state for graph, state in states.items() if state not in {State.SUCCEEDED, None}}
    if others:
        # A failed one if there is one: of that the compiler has said why.
        first = min(others, key=lambda graph: others[graph] is not State.FAILED)
        counted = Counter(str(state) for state in others.values())
        counts = ", ".join(f"{number} {name}" for name, number in sorted(counted.items()))
        raise CompilationFailedError(f"of {len(states)} graphs {counts}, such as {first}{_words(local, first)}")
    if code != 0:
        raise CompilationFailedError(f"neuron_parallel_compile ended with {code} after {len(compiled)} graphs")
    if not compiled:
        raise CompilationFailedError(
            f"no graph was compiled into {local.root}: does the command train a step, without a --cache_dir of its own "
            "in NEURON_CC_FLAGS?"
        )
    return compiled


def _words(local: LocalTier, graph: Graph) -> str:
    """The end of what the compiler said of a graph, if it said something."""
    try:
        text = (local.folder(graph) / "model.log").read_bytes()[-_WORDS:].decode(errors="replace")
    except OSError:
        return ""
    return f": {' '.join(text.split())}"
