"""Who compiles a graph: one row for each graph, of which every change is conditional on the row that was seen.

::

    FREE ──take──► COMPILING ──confirm──► PROMOTING ──finish──► DONE
      ▲                │  └─fail─► FAILED      │
      └────release─────┴───────────────────────┘

``token`` is the fencing token: it grows with every take, so whoever comes back from a long pause and finds another
token does not promote. ``revision`` grows with every change, and is what a conditional write compares. A holder that
stops renewing is dead at ``until``. PROMOTING is written before the rename that shows the graph to other nodes: a
holder that dies in that state may have promoted, and NFS may show it late.

Holders and waiters compare their own clocks with the row, so clocks must agree within ``Terms.skew``; EC2's time
service keeps them within milliseconds.
"""

from dataclasses import dataclass, replace
from typing import Final

from fleet.string_enum import StringEnum

_REASON_LIMIT: Final = 400


class State(StringEnum):
    """FAILED is remembered, so that a fleet does not repeat a compilation of half an hour on every node in turn."""

    FREE = "free"
    COMPILING = "compiling"
    PROMOTING = "promoting"
    DONE = "done"
    FAILED = "failed"


class Standing(StringEnum):
    """A row as somebody sees it who looks after the cache. STUCK: its holder died, and nobody has taken it since."""

    HELD = "held"
    STUCK = "stuck"
    FAILED = "failed"
    REFUSED = "refused"
    AT_REST = "at rest"


class Step(StringEnum):
    """What somebody does who needs a graph that is in no tier. REFUSED: it has failed before, and will again."""

    TAKE = "take"
    WAIT = "wait"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds, all of them.

    ``visible``: an NFS client may believe for a minute that a name is not there (acdirmax of nfs(5) is 60).
    ``attempts`` compilations may fail before the graph is refused for ``refusal``. A holder renews for ``longest``.
    """

    lease: float = 60.0
    skew: float = 2.0
    visible: float = 90.0
    refusal: float = 3600.0
    longest: float = 6 * 3600.0
    attempts: int = 2

    @property
    def renewal(self) -> float:
        """How often a holder renews: it may miss two and live."""
        return self.lease / 3


@dataclass(frozen=True, slots=True)
class Row:
    """A graph's row. ``until`` and ``changed`` are unix seconds; ``seconds`` is what its compilation took."""

    revision: int
    token: int
    state: State
    holder: str
    until: float
    changed: float
    failures: int = 0
    seconds: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """The step, and until when waiting makes sense (unix seconds)."""

    step: Step
    until: float = 0.0


def advise(row: Row | None, now: float, terms: Terms) -> Advice:
    """What to do about a graph that is in no tier, as far as this node sees."""
    if row is None or row.state is State.FREE:
        return Advice(Step.TAKE)
    if row.state is State.FAILED:
        is_over = row.failures < terms.attempts or now > row.until
        return Advice(Step.TAKE) if is_over else Advice(Step.REFUSED, row.until)
    # What was promoted and does not show within that time has been removed behind the table's back.
    end = row.changed + terms.visible if row.state is State.DONE else row.until + terms.skew
    return Advice(Step.TAKE) if now > end else Advice(Step.WAIT, end)


def standing(row: Row, now: float, terms: Terms) -> Standing:
    """FAILED is tried once more by whoever needs it next; REFUSED is not, before its time is over."""
    if row.state is State.FAILED:
        return Standing.REFUSED if advise(row, now, terms).step is Step.REFUSED else Standing.FAILED
    if row.state in {State.COMPILING, State.PROMOTING}:
        return Standing.HELD if advise(row, now, terms).step is Step.WAIT else Standing.STUCK
    return Standing.AT_REST


def take(row: Row | None, holder: str, now: float, terms: Terms) -> Row:
    """The row of a new holder."""
    token, revision, failures = (row.token, row.revision, row.failures) if row is not None else (0, 0, 0)
    return Row(revision + 1, token + 1, State.COMPILING, holder, now + terms.lease, now, failures)


def may_be_promoted(before: Row | None) -> bool:
    """Whether the graph may be in the shared tier although it does not show: look for a while before compiling."""
    return before is not None and before.state in {State.PROMOTING, State.DONE}


def renew(row: Row, now: float, terms: Terms) -> Row:
    """The holder lives."""
    return replace(row, revision=row.revision + 1, until=now + terms.lease)


def confirm(row: Row, now: float, terms: Terms) -> Row:
    """The holder is about to promote. Only if this is written, its token still holds."""
    return replace(renew(row, now, terms), state=State.PROMOTING, changed=now)


def finish(row: Row, seconds: float, now: float) -> Row:
    """The graph is in the shared tier."""
    done = replace(row, revision=row.revision + 1, state=State.DONE, until=now, changed=now)
    return replace(done, failures=0, seconds=seconds, reason="")


def fail(row: Row, reason: str, now: float, terms: Terms) -> Row:
    """The compiler refused the graph; ``reason`` in its own words, shortened."""
    failed = replace(row, revision=row.revision + 1, state=State.FAILED, until=now + terms.refusal, changed=now)
    return replace(failed, failures=row.failures + 1, reason=reason[:_REASON_LIMIT])


def release(row: Row, now: float) -> Row:
    """Nobody compiles it: the holder could not promote, or it was purged. Failures are forgotten."""
    return replace(row, revision=row.revision + 1, state=State.FREE, until=now, changed=now, failures=0, reason="")
