"""The node's state: decides when utilization means something, and when a silent or busy node is a problem.

Pure: ``decide`` takes what was observed in a minute and what is remembered of the minutes before, and answers with the
state, the reason in words, and what to remember. The states are tried in the order of ``NodeState``.
"""

from dataclasses import dataclass
from typing import Final

from fleet import patience
from fleet.node_memory import (
    CHECKPOINT_PHASE,
    Memory,
    Observation,
    is_occupied,
    lock_holds,
    minutes,
    on_this_clock,
    phase_holds,
    remembered,
)
from fleet.string_enum import StringEnum

__all__ = ["CHECKPOINT_MINUTES", "STARTUP_GRACE_MINUTES", "Memory", "NodeState", "Observation", "Verdict", "decide"]

STARTUP_GRACE_MINUTES: Final = 30
# Of a burst of writing, which only looks like a checkpoint; one that the job announces has its own patience.
CHECKPOINT_MINUTES: Final = 15
_PAUSE_OF_WAITING_MINUTES: Final = 10


class NodeState(StringEnum):
    """What a node is doing, in the order of precedence."""

    BLIND = "BLIND"
    FAULT = "FAULT"
    DRAINING = "DRAINING"
    NO_JOB = "NO_JOB"
    COMPILING = "COMPILING"
    PHASE = "PHASE"
    """What the job announced, other than a checkpoint: validation, evaluation, data preparation, a wait."""
    STARTUP = "STARTUP"
    CHECKPOINT = "CHECKPOINT"
    WAITING = "WAITING"
    """Past its start-up grace the job has executed nothing: it waits for a peer, or for ever. The fleet knows which."""
    RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of the minute, why, and what to remember for the next."""

    state: NodeState
    reason: str
    memory: Memory


def decide(seen: Observation, memory: Memory) -> Verdict:
    """The first state that holds. COMPILING never ends by itself: its own alarm watches how long it takes."""
    memory = remembered(seen, on_this_clock(memory, seen.at))
    for state, reason in (
        (NodeState.BLIND, seen.blind),
        (NodeState.FAULT, memory.fault or seen.passing_fault),
        (NodeState.DRAINING, seen.draining),
        (NodeState.NO_JOB, _no_job(seen)),
        (NodeState.COMPILING, _compiling(seen, memory)),
        (NodeState.PHASE, _phase(seen, memory)),
        (NodeState.STARTUP, _startup(seen, memory)),
        (NodeState.CHECKPOINT, _checkpoint(seen, memory)),
        (NodeState.WAITING, _waiting(seen, memory)),
    ):
        if reason is not None:
            return Verdict(state, reason, memory)
    return Verdict(NodeState.RUNNING, _running(seen, memory), memory)


def _no_job(seen: Observation) -> str | None:
    return None if is_occupied(seen) else "no runtime holds a core and no job is registered"


def _compiling(seen: Observation, memory: Memory) -> str | None:
    if memory.compiling_since is None:
        return None
    runs = "runs" if seen.compiling else "ran"
    return f"a compiler {runs}, for {minutes(seen.at, memory.compiling_since)} min, and nothing was executed"


def _phase(seen: Observation, memory: Memory) -> str | None:
    if seen.phase is None or not phase_holds(seen, memory):
        return None
    return f"the job announced {seen.phase.name}, for {minutes(seen.at, memory.phase_since)} min"


def _startup(seen: Observation, memory: Memory) -> str | None:
    if lock_holds(seen, memory):
        return f"somebody else compiles into the shared cache, for {minutes(seen.at, memory.lock_since)} min"
    if memory.has_executed or minutes(seen.at, memory.since) > STARTUP_GRACE_MINUTES:
        return None
    return f"the job has executed nothing yet, for {minutes(seen.at, memory.since)} min"


def _checkpoint(seen: Observation, memory: Memory) -> str | None:
    if memory.checkpoint_since is None:
        return None
    # Where executions are not measured, the checkpoint itself must not last longer either.
    paused = memory.checkpoint_since if memory.paused_since is None else memory.paused_since
    is_announced = seen.phase is not None and seen.phase.name == CHECKPOINT_PHASE
    most = patience.announced(seen.phase, seen.usd_per_hour) if seen.phase and is_announced else CHECKPOINT_MINUTES
    if minutes(seen.at, min(paused, memory.checkpoint_since)) > most:
        return None
    return "the workload writes a checkpoint"


def _waiting(seen: Observation, memory: Memory) -> str | None:
    most = patience.allowed(patience.WAITING_MINUTES, patience.WAITING_USD, seen.usd_per_hour)
    waited = minutes(seen.at, memory.since)
    # Where executions are not measured nobody knows whether there were any, nor behind a gap.
    paused = minutes(seen.at, memory.paused_since)
    if memory.has_executed or paused < _PAUSE_OF_WAITING_MINUTES or waited > STARTUP_GRACE_MINUTES + most:
        return None
    return f"the job has executed nothing for {waited} min, past its grace: it waits for a peer, or in vain"


def _running(seen: Observation, memory: Memory) -> str:
    if seen.completed is None:
        return "a job runs; its executions were not measured"
    if seen.completed > 0:
        return f"{seen.completed} executions completed"
    if not memory.has_executed:
        return f"the job has executed nothing for {minutes(seen.at, memory.since)} min, past its grace"
    return f"no execution completed for {minutes(seen.at, memory.paused_since)} min"
