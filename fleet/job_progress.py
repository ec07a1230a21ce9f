"""How the worst job of a node fares: one figure of each node, whose extreme over a fleet shows one bad job among good.

A mean over a fleet, and a percentile over its cores, hide a job that holds few of them. Job ids are not known when
alarms are deployed, so every node judges its own jobs. The bars were chosen by backtest (``fleet replay``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fleet.node_state import Memory, NodeState, Observation, Verdict, decide

# Collectives that wait for a slow peer, and steps of large models, take minutes; ten are a hang.
HANG_MINUTES: Final = 10
IDLE_PERCENT: Final = 5.0
_WORKS: Final = frozenset({NodeState.COMPILING, NodeState.STARTUP, NodeState.CHECKPOINT, NodeState.RUNNING})


@dataclass(frozen=True, slots=True)
class JobSeen:
    """One job's part of a node in a minute; percents are means over its cores, None where nothing was measured."""

    job_id: str
    holds_cores: bool
    completed: int | None
    core_percent: float | None
    tensor_engine_percent: float | None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What outlives a minute of a job: its own state's memory, and the minutes that it has been running in vain."""

    memory: Memory = field(default_factory=Memory)
    stalled_minutes: int = 0


@dataclass(frozen=True, slots=True)
class WorstJob:
    """The lowest figures of the jobs that are running, and whether one of them hangs; None is not known.

    ``tensor_engine_percent`` is of jobs that execute: one that executes nothing is idle or hangs, and is not slow.
    ``hung`` and ``idle`` are the ids of jobs that do.
    """

    core_percent: float | None = None
    tensor_engine_percent: float | None = None
    hangs: bool | None = None
    hung: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


def judge(
    jobs: Sequence[JobSeen], node: Observation, verdict: Verdict, before: Mapping[str, Remembered]
) -> tuple[WorstJob, Mapping[str, Remembered]]:
    """The worst of ``jobs`` in the minute that ``node`` and ``verdict`` are of, and what to remember of each.

    Every job has a state of its own: beside one that runs, another one may be starting up.
    """
    if verdict.state is NodeState.BLIND:
        return WorstJob(), before
    if verdict.state not in _WORKS:
        return WorstJob(hangs=False), {}
    after: dict[str, Remembered] = {}
    running: list[JobSeen] = []
    for job in jobs:
        own = _own_verdict(job, node, before.get(job.job_id, Remembered()))
        state = verdict.state if len(jobs) == 1 else own.state
        stalled = _stalled(job, state, before.get(job.job_id, Remembered()).stalled_minutes)
        after[job.job_id] = Remembered(own.memory, stalled)
        if state is NodeState.RUNNING:
            running.append(job)
    executing = [job for job in running if not after[job.job_id].stalled_minutes]
    worst = WorstJob(
        core_percent=_lowest([job.core_percent for job in running]),
        tensor_engine_percent=_lowest([job.tensor_engine_percent for job in executing]),
        hangs=_any_hangs(running, after),
        hung=tuple(job.job_id for job in running if _hangs(job, after[job.job_id].stalled_minutes)),
        idle=tuple(job.job_id for job in running if _rests(job)),
    )
    return worst, after


def _own_verdict(job: JobSeen, node: Observation, known: Remembered) -> Verdict:
    seen = replace(node, job=job.job_id, holds_cores=job.holds_cores, completed=job.completed)
    return decide(seen, known.memory)


def _stalled(job: JobSeen, state: NodeState, minutes: int) -> int:
    if state is not NodeState.RUNNING or (job.completed or 0) > 0:
        return 0
    # An unmeasured minute neither starts nor ends a pause.
    return minutes if job.completed is None else minutes + 1


def _any_hangs(running: Sequence[JobSeen], known: Mapping[str, Remembered]) -> bool | None:
    if any(_hangs(job, known[job.job_id].stalled_minutes) for job in running):
        return True
    return None if any(job.completed is None for job in running) else False


def _hangs(job: JobSeen, stalled_minutes: int) -> bool:
    # Cores that rest are an idle job, which is another page with another thing to do.
    return stalled_minutes >= HANG_MINUTES and not _rests(job)


def _rests(job: JobSeen) -> bool:
    return job.core_percent is not None and job.core_percent < IDLE_PERCENT


def _lowest(percents: Sequence[float | None]) -> float | None:
    return min((percent for percent in percents if percent is not None), default=None)
