"""What tells where a graph lies, when archives go: it names one that stays, or goes too."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fleet.compile_cache import whereabouts
from fleet.compile_cache.graph import Graph, GraphNameError, parse

_ARCHIVE = ".tar"


def after(stored: Iterable[str], gone: Iterable[str]) -> tuple[list[str], dict[Graph, str]]:
    """Keys that go with the archives among ``gone``; and of graphs that another artifact has too, its archive there."""
    stored, gone = frozenset(stored), frozenset(gone)
    left = defaultdict(list)
    for graph, key in _archives(stored - gone):
        left[graph].append(key)
    told = sorted({graph for graph, _ in _archives(gone) if whereabouts.key(graph) in stored})
    return (
        [whereabouts.key(graph) for graph in told if graph not in left],
        {graph: min(left[graph]) for graph in told if graph in left},
    )


def _archives(keys: Iterable[str]) -> Iterator[tuple[Graph, str]]:
    for key in keys:
        if key.endswith(_ARCHIVE):
            try:
                yield parse("/".join(key.removesuffix(_ARCHIVE).split("/")[-2:])), key
            except GraphNameError:
                # Somebody else's.
                continue
