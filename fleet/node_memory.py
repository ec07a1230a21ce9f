"""What was seen of a node in a minute, and what is remembered of the minutes before it. Pure."""

from dataclasses import dataclass, replace
from typing import Final, TypedDict

from fleet import patience
from fleet.patience import Announced

CHECKPOINT_PHASE: Final = "checkpoint"
AFTER_COMPILING_MINUTES: Final = 5
_MINUTE: Final = 60.0
_JOBS_REMEMBERED: Final = 8
# Behind a gap of so many minutes a pause is another one than before it.
_UNSEEN_MINUTES: Final = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """One minute of a node. ``at`` is its start in unix seconds; texts are reasons, None where there is none.

    ``completed`` is None when executions were not measured. ``job`` is the id of a registered or recognised job.
    ``fault`` asks for a new node or a boot of this one; ``passing_fault`` is an error of the minute that does not, such
    as a collective that hangs because of another node. ``checkpoint`` is a burst of writing, ``phase`` what the job
    announced; ``waits_for_lock`` is that somebody elsewhere compiles into the shared cache. ``usd_per_hour`` is the
    node's price, None where it is not known.
    """

    at: float
    blind: str | None = None
    fault: str | None = None
    passing_fault: str | None = None
    draining: str | None = None
    holds_cores: bool = False
    job: str | None = None
    compiling: bool = False
    completed: int | None = None
    checkpoint: bool = False
    phase: Announced | None = None
    waits_for_lock: bool = False
    usd_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What outlives a minute. A fault stays until the node boots, unless it passes; the rest belongs to ``job``.

    ``since`` is when the start-up grace began; the other times are when a pause, a compilation, the writing of a
    checkpoint or the wait for a lock was first seen, and ``compiled_at`` is when a compiler was seen last. ``phase`` is
    the phase that is announced, and ``announced_since`` when the first of those began after which the job has not
    simply run. ``earlier`` are jobs that were seen before ``job`` since the node was last free, ``free_since`` is when
    the node was first seen without a job that it could have taken, and ``at`` is the minute that was seen last.
    """

    fault: str | None = None
    job: str | None = None
    since: float | None = None
    has_executed: bool = False
    paused_since: float | None = None
    compiling_since: float | None = None
    compiled_at: float | None = None
    checkpoint_since: float | None = None
    lock_since: float | None = None
    phase: str | None = None
    phase_since: float | None = None
    announced_since: float | None = None
    earlier: tuple[str, ...] = ()
    free_since: float | None = None
    at: float | None = None


class _Phase(TypedDict):
    phase: str | None
    phase_since: float | None
    announced_since: float | None


def on_this_clock(memory: Memory, now: float) -> Memory:
    """``memory`` for a clock that says ``now``."""
    # A clock that was set back would make every excuse last longer by as much: what is remembered moves with it.
    back = 0.0 if memory.at is None else min(0.0, now - memory.at)
    if back == 0.0:
        return memory
    return replace(
        memory,
        since=_moved(memory.since, back),
        paused_since=_moved(memory.paused_since, back),
        compiling_since=_moved(memory.compiling_since, back),
        compiled_at=_moved(memory.compiled_at, back),
        checkpoint_since=_moved(memory.checkpoint_since, back),
        lock_since=_moved(memory.lock_since, back),
        phase_since=_moved(memory.phase_since, back),
        announced_since=_moved(memory.announced_since, back),
        free_since=_moved(memory.free_since, back),
    )


def _moved(time: float | None, by: float) -> float | None:
    return None if time is None else time + by


def remembered(seen: Observation, memory: Memory) -> Memory:
    """``memory`` with what ``seen`` adds to it."""
    fault = memory.fault or seen.fault
    if seen.blind is not None:
        # Nothing was seen of the work, so nothing is concluded about it.
        return replace(memory, fault=fault)
    if not is_occupied(seen):
        takes_jobs = seen.draining is None and fault is None
        free_since = _first(memory.free_since, seen) if takes_jobs else None
        return Memory(fault=fault, free_since=free_since, at=seen.at)
    if is_behind_a_gap(seen.at, memory):
        memory = replace(memory, paused_since=None)
    if memory.since is None:
        memory = Memory(job=seen.job, since=seen.at)
    elif _is_new(seen.job, memory):
        memory = Memory(job=seen.job, since=seen.at, earlier=_earlier(memory))
    progressed = (seen.completed or 0) > 0
    is_compiling = seen.compiling and not progressed
    has_executed = memory.has_executed or progressed
    compiled_at = seen.at if is_compiling else None if has_executed else memory.compiled_at
    # Between two graphs, and while the last one is loaded, a job that has not begun still is about its compilation.
    compiles = compiled_at is not None and minutes(seen.at, compiled_at) <= 1 + AFTER_COMPILING_MINUTES
    writes = seen.checkpoint or (seen.phase is not None and seen.phase.name == CHECKPOINT_PHASE)
    now = Memory(
        fault=fault,
        job=seen.job or memory.job,
        since=memory.since,
        has_executed=has_executed,
        # An unmeasured minute neither starts nor ends a pause.
        paused_since=None if progressed else _first(memory.paused_since, seen, when=seen.completed is not None),
        compiling_since=_first(memory.compiling_since, seen) if compiles else None,
        compiled_at=compiled_at if compiles else None,
        checkpoint_since=_first(memory.checkpoint_since, seen) if writes and not progressed else None,
        lock_since=_first(memory.lock_since, seen) if seen.waits_for_lock and not has_executed else None,
        earlier=_earlier(memory) if seen.job not in {None, memory.job} else memory.earlier,
        at=seen.at,
        **_announced(seen, memory, is_plain=progressed and seen.phase is None),
    )
    # The start-up grace is for loading, so it begins again when a compilation or a phase has ended.
    waited = is_compiling or lock_holds(seen, now) or phase_holds(seen, now)
    if now.paused_since is not None and (waited or _checkpoint_holds(seen, now)):
        # Nothing is executed before the compiler is done, or before the phase is over: only then does a pause begin.
        now = replace(now, paused_since=seen.at)
    elif now.paused_since is not None and seen.phase is not None:
        # What outlasts its patience is judged as if nothing had been said.
        began = now.checkpoint_since if seen.phase.name == CHECKPOINT_PHASE else now.phase_since
        now = replace(now, paused_since=now.paused_since if began is None else min(began, now.paused_since))
    return replace(now, since=seen.at) if waited else now


def is_behind_a_gap(at: float, memory: Memory) -> bool:
    """Whether nobody saw the node for so long before minute ``at`` that what it did then says nothing any more."""
    # Both the minute before this one and this one were seen.
    return minutes(at, memory.at) - 2 > _UNSEEN_MINUTES


def _announced(seen: Observation, memory: Memory, *, is_plain: bool) -> _Phase:
    if seen.phase is None or seen.phase.name == CHECKPOINT_PHASE:
        since = None if is_plain else memory.announced_since
        return {"phase": None, "phase_since": None, "announced_since": since}
    goes_on = memory.phase == seen.phase.name and memory.phase_since is not None
    return {
        "phase": seen.phase.name,
        "phase_since": memory.phase_since if goes_on else seen.at,
        "announced_since": _first(memory.announced_since, seen),
    }


def phase_holds(seen: Observation, memory: Memory) -> bool:
    """Whether the job is in a phase that it announced, and neither its patience nor its dollars are used up."""
    phase = seen.phase
    if phase is None or phase.name == CHECKPOINT_PHASE:
        return False
    most = patience.allowed(patience.LONGEST_ANNOUNCED_MINUTES, patience.most_usd(phase), seen.usd_per_hour)
    return (
        minutes(seen.at, memory.phase_since) <= patience.announced(phase, seen.usd_per_hour)
        and minutes(seen.at, memory.announced_since) <= most
    )


def _checkpoint_holds(seen: Observation, memory: Memory) -> bool:
    phase = seen.phase
    if phase is None or phase.name != CHECKPOINT_PHASE:
        return False
    return minutes(seen.at, memory.checkpoint_since) <= patience.announced(phase, seen.usd_per_hour)


def lock_holds(seen: Observation, memory: Memory) -> bool:
    """Whether a job that has executed nothing waits for somebody who compiles into the shared cache.

    Whose the lock is cannot be seen, and one that its owner left behind looks the same: so this is bounded too.
    """
    most = patience.allowed(patience.WAITING_MINUTES, patience.ANNOUNCED_USD, seen.usd_per_hour)
    return memory.lock_since is not None and minutes(seen.at, memory.lock_since) <= most


def _is_new(job: str | None, memory: Memory) -> bool:
    # Jobs that share a node may take turns in being named; only a job that was never there before is starting up.
    return job is not None and memory.job is not None and job not in {memory.job, *memory.earlier}


def _earlier(memory: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(job for job in (memory.job, *memory.earlier) if job is not None))[:_JOBS_REMEMBERED]


def _first(since: float | None, seen: Observation, *, when: bool = True) -> float | None:
    return seen.at if since is None and when else since


def is_occupied(seen: Observation) -> bool:
    """Whether anybody works on the node, or is meant to."""
    return seen.holds_cores or seen.job is not None


def minutes(now: float, since: float | None) -> int:
    """How many minutes have passed; the one that is judged counts: a pause seen for the first time has lasted one."""
    return 0 if since is None else int((now - since) // _MINUTE) + 1
