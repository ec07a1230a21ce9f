"""What happened to a graph between two looks at its files."""

from dataclasses import dataclass
from typing import Final

from workload.compile_cache.entry import Entry, State

_SECOND: Final = 1_000_000_000
# The compiler needs longer than this only to start, so files that came faster were copied, from another cache.
_FASTEST: Final = 1 * _SECOND
_LONGEST: Final = 24 * 3600 * _SECOND


@dataclass(slots=True)
class Changes:
    """Since the last scan. ``seconds`` were spent on compilations that ended, well or not, and whose start is known.

    ``waited`` are seconds between asking for a graph and having it from the fleet, which had or compiled it meanwhile.
    """

    compiled: int = 0
    failed: int = 0
    missed: int = 0
    fetched: int = 0
    seconds: float = 0.0
    waited: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether anything was compiled."""
        return bool(self.compiled or self.failed or self.missed)


@dataclass(slots=True)
class Graph:
    """What is remembered of a graph. ``idle`` is when it was last seen to be compiled by nobody, in nanoseconds."""

    entry: Entry
    idle: int | None = None
    lock: int | None = None
    is_missed: bool = False


def first_seen(entry: Entry, since: int, now: int, *, is_baseline: bool, into: Changes) -> Graph:
    """A graph that was not there at ``since`` (nanoseconds), or that the first scan found (``is_baseline``)."""
    graph = Graph(entry, idle=now if entry.state is State.INCOMPLETE else None)
    if entry.state is State.SUCCEEDED:
        if entry.done is None or entry.done <= since:
            into.fetched += 0 if is_baseline else 1
        elif entry.input is not None and 0 <= entry.done - entry.input < _FASTEST:
            into.fetched += 1
        else:
            _compiled(graph, entry, into)
    elif entry.state is State.FAILED:
        if (entry.log or 0) > since:
            _failed(graph, entry, into)
        graph.idle = now
    elif entry.state is State.COMPILING:
        if (entry.lock or 0) > since:
            into.missed += 1
        graph.is_missed, graph.lock = True, entry.lock
    return graph


def seen_again(graph: Graph, entry: Entry, now: int, into: Changes) -> None:
    """Bring ``graph`` up to date with its files at ``now`` (nanoseconds)."""
    before, graph.entry = graph.entry, entry
    if entry.state is State.COMPILING:
        if not graph.is_missed:
            into.missed += 1
        graph.is_missed, graph.lock = True, entry.lock
    elif entry.state is State.SUCCEEDED:
        if before.state is not State.SUCCEEDED or entry.done != before.done:
            _compiled(graph, entry, into)
    elif entry.state is State.FAILED and entry.log != before.log:
        _failed(graph, entry, into)
    if entry.state in {State.FAILED, State.INCOMPLETE}:
        graph.idle, graph.lock, graph.is_missed = now, None, False


def _compiled(graph: Graph, entry: Entry, into: Changes) -> None:
    if entry.is_fetched:
        # One that was waited for long enough to be seen is the miss that it was.
        into.fetched += not graph.is_missed
        into.waited += _seconds(graph, entry.done)
        graph.is_missed, graph.lock = False, None
        return
    into.compiled += 1
    _ended(graph, entry.done, into)


def _failed(graph: Graph, entry: Entry, into: Changes) -> None:
    into.failed += 1
    _ended(graph, entry.log, into)


def _ended(graph: Graph, end: int | None, into: Changes) -> None:
    if not graph.is_missed:
        into.missed += 1
    into.seconds += _seconds(graph, end)
    graph.is_missed, graph.lock = False, None


def _seconds(graph: Graph, end: int | None) -> float:
    # The input may have lain there for days before anybody compiled it.
    starts = [at for at in (graph.entry.input, graph.lock, graph.idle) if at is not None]
    is_known = end is not None and starts and 0 <= end - max(starts) <= _LONGEST
    return (end - max(starts)) / _SECOND if end is not None and is_known else 0.0
