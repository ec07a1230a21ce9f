"""Which graphs the shared tier lets go of: those of compilers that nobody runs any more, and those that are old."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from fleet.compile_cache.graph import Graph, age_order


@dataclass(frozen=True, slots=True)
class Kept:
    """A graph in the shared tier; ``promoted`` in unix seconds, ``size`` in bytes."""

    graph: Graph
    promoted: float
    size: int


@dataclass(frozen=True, slots=True)
class EvictionPolicy:
    """``versions``: how many of the newest compilers keep their graphs; ``age``: how long any graph is kept.

    ``grace`` protects whatever was promoted this recently: a fleet may have gone back to an older compiler today.
    Age is counted from the promotion, because a network file system does not reliably say when a file was read.
    """

    versions: int = 2
    age: timedelta = timedelta(days=90)
    grace: timedelta = timedelta(days=2)

    def __post_init__(self) -> None:
        """Refuse a policy that would empty the cache."""
        if self.versions < 1:
            raise ValueError("the newest compiler's graphs are always kept: versions must be at least 1")
        if self.age <= self.grace:
            raise ValueError(f"an age of {self.age} is within the grace of {self.grace}")


def choose(entries: Iterable[Kept], policy: EvictionPolicy, now: float) -> tuple[Kept, ...]:
    """The graphs to evict, oldest first."""
    entries = tuple(entries)
    newest = sorted({entry.graph.version for entry in entries}, key=age_order, reverse=True)
    kept = frozenset(newest[: policy.versions])
    found = [
        entry
        for entry in entries
        if now - entry.promoted > policy.grace.total_seconds()
        and (entry.graph.version not in kept or now - entry.promoted > policy.age.total_seconds())
    ]
    return tuple(sorted(found, key=lambda entry: (entry.promoted, entry.graph)))
