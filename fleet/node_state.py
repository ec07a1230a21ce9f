"""The node's state: decides when utilization means something, and when a silent or busy node is a problem.

Pure: ``decide`` takes what was observed in a minute and what is remembered of the minutes before, and answers with the
state, the reason in words, and what to remember. The states are tried in the order of ``NodeState``.
"""

from dataclasses import dataclass, replace
from typing import Final

from fleet.string_enum import StringEnum

STARTUP_GRACE_MINUTES: Final = 30
CHECKPOINT_MINUTES: Final = 15
_MINUTE: Final = 60.0
_JOBS_REMEMBERED: Final = 8


class NodeState(StringEnum):
    """What a node is doing, in the order of precedence."""

    BLIND = "BLIND"
    FAULT = "FAULT"
    DRAINING = "DRAINING"
    NO_JOB = "NO_JOB"
    COMPILING = "COMPILING"
    STARTUP = "STARTUP"
    CHECKPOINT = "CHECKPOINT"
    RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class Observation:
    """One minute of a node. ``at`` is its start in unix seconds; texts are reasons, None where there is none.

    ``completed`` is None when executions were not measured. ``job`` is the id of a registered or recognised job.
    ``fault`` asks for a new node or a boot of this one; ``passing_fault`` is an error of the minute that does not, such
    as a collective that hangs because of another node.
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


@dataclass(frozen=True, slots=True)
class Memory:
    """What outlives a minute. A fault stays until the node boots, unless it passes; the rest belongs to ``job``.

    ``since`` is when the start-up grace began; the other times are when a pause, a compilation or the writing of a
    checkpoint was first seen. ``earlier`` are jobs that were seen before ``job`` since the node was last free, and
    ``at`` is the minute that was judged last.
    """

    fault: str | None = None
    job: str | None = None
    since: float | None = None
    has_executed: bool = False
    paused_since: float | None = None
    compiling_since: float | None = None
    checkpoint_since: float | None = None
    earlier: tuple[str, ...] = ()
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of the minute, why, and what to remember for the next."""

    state: NodeState
    reason: str
    memory: Memory


def decide(seen: Observation, memory: Memory) -> Verdict:
    """The first state that holds. COMPILING never ends by itself: its own alarm watches how long it takes."""
    memory = replace(_remember(seen, _on_this_clock(memory, seen.at)), at=seen.at)
    for state, reason in (
        (NodeState.BLIND, seen.blind),
        (NodeState.FAULT, memory.fault or seen.passing_fault),
        (NodeState.DRAINING, seen.draining),
        (NodeState.NO_JOB, _no_job(seen)),
        (NodeState.COMPILING, _compiling(seen, memory)),
        (NodeState.STARTUP, _startup(seen, memory)),
        (NodeState.CHECKPOINT, _checkpoint(seen, memory)),
    ):
        if reason is not None:
            return Verdict(state, reason, memory)
    return Verdict(NodeState.RUNNING, _running(seen, memory), memory)


def _on_this_clock(memory: Memory, now: float) -> Memory:
    # A clock that was set back would make every excuse last longer by as much: what is remembered moves with it.
    back = 0.0 if memory.at is None else min(0.0, now - memory.at)
    if back == 0.0:
        return memory
    return replace(
        memory,
        since=_moved(memory.since, back),
        paused_since=_moved(memory.paused_since, back),
        compiling_since=_moved(memory.compiling_since, back),
        checkpoint_since=_moved(memory.checkpoint_since, back),
    )


def _moved(time: float | None, by: float) -> float | None:
    return None if time is None else time + by


def _remember(seen: Observation, memory: Memory) -> Memory:
    fault = memory.fault or seen.fault
    if seen.blind is not None:
        # Nothing was seen of the work, so nothing is concluded about it.
        return replace(memory, fault=fault)
    if not _is_occupied(seen):
        return Memory(fault=fault)
    if memory.since is None:
        memory = Memory(job=seen.job, since=seen.at)
    elif _is_new(seen.job, memory):
        memory = Memory(job=seen.job, since=seen.at, earlier=_earlier(memory))
    progressed = (seen.completed or 0) > 0
    is_compiling = seen.compiling and not progressed
    return Memory(
        fault=fault,
        job=seen.job or memory.job,
        # The start-up grace is for loading, so it begins again when a compilation has ended.
        since=seen.at if is_compiling else memory.since,
        has_executed=memory.has_executed or progressed,
        # An unmeasured minute neither starts nor ends a pause.
        paused_since=None if progressed else _first(memory.paused_since, seen, when=seen.completed is not None),
        compiling_since=_first(memory.compiling_since, seen) if is_compiling else None,
        checkpoint_since=_first(memory.checkpoint_since, seen) if seen.checkpoint and not progressed else None,
        earlier=_earlier(memory) if seen.job not in {None, memory.job} else memory.earlier,
    )


def _is_new(job: str | None, memory: Memory) -> bool:
    # Jobs that share a node may take turns in being named; only a job that was never there before is starting up.
    return job is not None and memory.job is not None and job not in {memory.job, *memory.earlier}


def _earlier(memory: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(job for job in (memory.job, *memory.earlier) if job is not None))[:_JOBS_REMEMBERED]


def _first(since: float | None, seen: Observation, *, when: bool = True) -> float | None:
    return seen.at if since is None and when else since


def _is_occupied(seen: Observation) -> bool:
    return seen.holds_cores or seen.job is not None


def _no_job(seen: Observation) -> str | None:
    return None if _is_occupied(seen) else "no runtime holds a core and no job is registered"


def _compiling(seen: Observation, memory: Memory) -> str | None:
    if memory.compiling_since is None:
        return None
    return f"a compiler runs, for {_minutes(seen.at, memory.compiling_since)} min, and nothing was executed"


def _startup(seen: Observation, memory: Memory) -> str | None:
    if memory.has_executed or _minutes(seen.at, memory.since) > STARTUP_GRACE_MINUTES:
        return None
    return f"the job has executed nothing yet, for {_minutes(seen.at, memory.since)} min"


def _checkpoint(seen: Observation, memory: Memory) -> str | None:
    if memory.checkpoint_since is None:
        return None
    # Where executions are not measured, the checkpoint itself must not last longer either.
    paused = memory.checkpoint_since if memory.paused_since is None else memory.paused_since
    if _minutes(seen.at, min(paused, memory.checkpoint_since)) > CHECKPOINT_MINUTES:
        return None
    return "the workload writes a checkpoint"


def _running(seen: Observation, memory: Memory) -> str:
    if seen.completed is None:
        return "a job runs; its executions were not measured"
    if seen.completed > 0:
        return f"{seen.completed} executions completed"
    if not memory.has_executed:
        return f"the job has executed nothing for {_minutes(seen.at, memory.since)} min, past its grace"
    return f"no execution completed for {_minutes(seen.at, memory.paused_since)} min"


def _minutes(now: float, since: float | None) -> int:
    # The minute that is judged counts: a pause seen for the first time has lasted one.
    return 0 if since is None else int((now - since) // _MINUTE) + 1
