"""A simulated node's compile cache: the files of its graphs, as the compiler leaves them, with virtual times.

While a script compiles, the nodes of its fleet compile one graph each at a time, and when those have ended each node
is given what the others made, as a cache that the fleet shares would.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from local.simulation.script import FleetPart, PhaseKind, Script

_VERSION: Final = "neuronxcc-2.21.18209.0+043b1bf7"
# Graphs that a node compiles itself, one after the other, in one phase.
_ROUNDS: Final = 4
# Of one graph, where no later phase says when compiling ends.
_GRAPH_SECONDS: Final = 600.0
# What the compiler needs to start, and what a compiled graph takes up.
_START_SECONDS: Final = 1.0
_GRAPH_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class _Graph:
    """Compiled here from ``begin`` to ``end`` (virtual unix seconds), or fetched at ``end``: then there is no begin."""

    number: int
    begin: float | None
    end: float


class CompileCache:
    """The folder ``root``, which is empty until something is compiled."""

    def __init__(self, root: Path, script: Script, part: FleetPart) -> None:
        self._folder = root / _VERSION
        self._folder.mkdir(parents=True)
        self._waiting = sorted(_graphs(script, part), key=lambda graph: graph.end)
        self._begun: set[int] = set()

    def show(self, now: float) -> None:
        """Make the files what they are at virtual second ``now``."""
        for graph in list(self._waiting):
            if graph.begin is not None and graph.begin <= now and graph.number not in self._begun:
                self._begun.add(graph.number)
                self._put(graph, graph.begin, "model.hlo_module.pb", "model.hlo_module.pb.lock")
            if graph.end <= now:
                self._waiting.remove(graph)
                self._finish(graph)

    def _finish(self, graph: _Graph) -> None:
        if graph.begin is None:
            self._put(graph, graph.end, "model.hlo_module.pb")
        self._put(graph, graph.end, "model.neff", size=_GRAPH_BYTES)
        self._put(graph, graph.end, "model.done")
        self._path(graph, "model.hlo_module.pb.lock").unlink(missing_ok=True)

    def _put(self, graph: _Graph, at: float, *names: str, size: int = 0) -> None:
        for name in names:
            path = self._path(graph, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes(size))
            os.utime(path, (at, at))

    def _path(self, graph: _Graph, name: str) -> Path:
        return self._folder / f"MODULE_{graph.number}+abcd1234" / name


def _graphs(script: Script, part: FleetPart) -> Iterator[_Graph]:
    """Every graph that this node will have."""
    for number, (phase, end) in enumerate(pairwise([*script.phases, None])):
        if phase is None or phase.kind is not PhaseKind.COMPILING:
            continue
        seconds = _GRAPH_SECONDS if end is None else (end.start - phase.start) / _ROUNDS
        for turn in range(_ROUNDS):
            began = phase.start + turn * seconds
            for node in range(part.nodes):
                graph = (number * _ROUNDS + turn) * part.nodes + node
                own = began + _START_SECONDS if node == part.index else None
                yield _Graph(graph, own, began + seconds)
