"""What the cache was good for: graphs found, compiled and waited for, and the time that was saved."""

from dataclasses import dataclass

from fleet.string_enum import StringEnum


class Source(StringEnum):
    """Where a graph came from. FETCHED from the shared tier, RESTORED from S3.

    COMPILED here; UNSHARED was compiled too, and other nodes cannot have it.
    """

    LOCAL = "local"
    FETCHED = "fetched"
    RESTORED = "restored"
    COMPILED = "compiled"
    UNSHARED = "unshared"


@dataclass(frozen=True, slots=True)
class Obtained:
    """A graph was asked for and is on local disk now, ``waited`` seconds later.

    ``compilation`` is what compiling took, here or where it was done; None where nobody wrote it down. ``problem`` is
    why it could not be shared, in one line.
    """

    source: Source
    waited: float
    compilation: float | None = None
    problem: str = ""


@dataclass(slots=True)
class Tally:
    """A process's graphs, and its seconds."""

    local: int = 0
    fetched: int = 0
    restored: int = 0
    compiled: int = 0
    unshared: int = 0
    failed: int = 0
    seconds_compiling: float = 0.0
    seconds_waited: float = 0.0
    seconds_saved: float = 0.0

    def add(self, graph: Obtained) -> None:
        """Count one."""
        self.seconds_waited += graph.waited
        if graph.source is Source.LOCAL:
            self.local += 1
        elif graph.source in {Source.FETCHED, Source.RESTORED}:
            self.fetched += graph.source is Source.FETCHED
            self.restored += graph.source is Source.RESTORED
            # Waiting for another node to compile it is not saved; having it sooner than that is.
            self.seconds_saved += max(0.0, (graph.compilation or 0.0) - graph.waited)
        else:
            self.compiled += 1
            self.unshared += graph.source is Source.UNSHARED
            self.seconds_compiling += graph.compilation or 0.0

    @property
    def hit_rate(self) -> float | None:
        """The share of graphs that were found compiled, 0 to 1; None when none was asked for."""
        found = self.local + self.fetched + self.restored
        asked = found + self.compiled + self.failed
        return found / asked if asked else None

    @property
    def minutes_saved(self) -> float:
        """Compilation that others had done already."""
        return self.seconds_saved / 60
