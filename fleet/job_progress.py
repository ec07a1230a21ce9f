"""How the worst job of a node fares: one figure of each node, whose extreme over a fleet shows one bad job among good.

A mean over a fleet, and a percentile over its cores, hide a job that holds few of them. Job ids are not known when
alarms are deployed, so every node judges its own jobs. The bars were chosen by backtest (``fleet replay``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fleet import idleness
from fleet.crash_loop import Runs
from fleet.idleness import IDLE_MINUTES, IDLE_MINUTES_OF_ENDPOINTS, IDLE_PERCENT, Idleness, RunningMinute
from fleet.node_memory import is_behind_a_gap, minutes
from fleet.node_state import Memory, NodeState, Observation, Verdict, decide
from fleet.patience import Announced

# Collectives that wait for a slow peer, and steps of large models, take minutes; ten are a hang.
HANG_MINUTES: Final = 10
# A job that starves by turns is low on average and never for long: an evaluation of ten minutes is neither.
MEAN_MINUTES: Final = 45
_WORKS: Final = frozenset(
    {
        NodeState.COMPILING,
        NodeState.PHASE,
        NodeState.STARTUP,
        NodeState.CHECKPOINT,
        NodeState.WAITING,
        NodeState.RUNNING,
    }
)


@dataclass(frozen=True, slots=True)
class JobSeen:
    """One job's part of a node in a minute; percents are means over its cores, None where nothing was measured.

    ``share`` is its part of the node's price, ``cpu_percent`` busy time of the host's CPUs where the job is alone.
    """

    job_id: str
    holds_cores: bool
    completed: int | None
    core_percent: float | None
    tensor_engine_percent: float | None
    share: float = 1.0
    cpu_percent: float | None = None
    phase: Announced | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What outlives a minute of a job: its own state's memory, its pauses, and for how long it has run in vain.

    ``tensor_engine`` are percents of the last minutes in which it executed.
    """

    memory: Memory = field(default_factory=Memory)
    stalled_minutes: int = 0
    idleness: Idleness = field(default_factory=Idleness)
    tensor_engine: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """All that outlives a minute: of the node's own state, of each job that is there, and of jobs' runs."""

    memory: Memory = field(default_factory=Memory)
    jobs: Mapping[str, Remembered] = field(default_factory=dict)
    runs: Mapping[str, Runs] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorstJob:
    """The lowest figures of the jobs that are running, and whether one of them hangs; None is not known.

    ``tensor_engine_percent`` is of jobs that execute: one that executes nothing is idle or hangs, and is not slow. It
    is the minute's, or the mean of the last ``MEAN_MINUTES`` where that is lower. ``idle_share`` is the part of the
    node that jobs hold which idle or never begin; ``idle``, ``waiting`` and ``hung`` are ids of jobs.
    """

    core_percent: float | None = None
    tensor_engine_percent: float | None = None
    hangs: bool | None = None
    idle_share: float | None = None
    idle: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    hung: tuple[str, ...] = ()


def judge(
    jobs: Sequence[JobSeen],
    node: Observation,
    verdict: Verdict,
    before: Mapping[str, Remembered],
    *,
    serves: bool = False,
) -> tuple[WorstJob, Mapping[str, Remembered]]:
    """The worst of ``jobs`` in the minute that ``node`` and ``verdict`` are of, and what to remember of each.

    Every job has a state of its own: beside one that runs, another one may be starting up. A node that ``serves`` has
    work when its users have: it may rest for longer, and a mean says nothing of it.
    """
    if verdict.state is NodeState.BLIND:
        return WorstJob(), before
    if verdict.state not in _WORKS:
        return WorstJob(hangs=False, idle_share=0.0), {}
    after: dict[str, Remembered] = {}
    running: list[JobSeen] = []
    idle: list[JobSeen] = []
    waiting: list[JobSeen] = []
    for job in jobs:
        known = _behind_a_gap(before.get(job.job_id, Remembered()), node.at)
        own = _own_verdict(job, node, known)
        state = verdict.state if len(jobs) == 1 else own.state
        now = after[job.job_id] = _lived(job, state, replace(known, memory=own.memory), node, serves=serves)
        if state is NodeState.RUNNING:
            running.append(job)
        if state is NodeState.RUNNING and now.idleness.is_idle:
            idle.append(job)
        elif state is NodeState.WAITING:
            waiting.append(job)
    executing = [job for job in running if not after[job.job_id].stalled_minutes]
    worst = WorstJob(
        core_percent=_lowest([job.core_percent for job in running]),
        tensor_engine_percent=_lowest([_useful(job, after[job.job_id]) for job in executing]),
        hangs=_any_hangs(running, after),
        idle_share=min(1.0, sum(job.share for job in (*idle, *waiting))),
        idle=tuple(job.job_id for job in idle),
        waiting=tuple(job.job_id for job in waiting),
        hung=tuple(job.job_id for job in running if _hangs(job, after[job.job_id].stalled_minutes)),
    )
    return worst, after


def _behind_a_gap(known: Remembered, at: float) -> Remembered:
    if not is_behind_a_gap(at, known.memory):
        return known
    return replace(known, idleness=idleness.behind_a_gap(known.idleness))


def _lived(job: JobSeen, state: NodeState, known: Remembered, node: Observation, *, serves: bool) -> Remembered:
    stalled = _stalled(job, state, known.stalled_minutes)
    is_running = state is NodeState.RUNNING
    idle_minutes = IDLE_MINUTES_OF_ENDPOINTS if serves else IDLE_MINUTES
    pause = minutes(node.at, known.memory.paused_since)
    minute = RunningMinute(job.core_percent, job.cpu_percent, node.usd_per_hour, pause) if is_running else None
    useful = known.tensor_engine
    if is_running and not serves and not stalled and job.tensor_engine_percent is not None:
        useful = (*useful, round(job.tensor_engine_percent, 1))[-MEAN_MINUTES:]
    return Remembered(known.memory, stalled, idleness.after(known.idleness, minute, idle_minutes), useful)


def _useful(job: JobSeen, known: Remembered) -> float | None:
    if job.tensor_engine_percent is None or len(known.tensor_engine) < MEAN_MINUTES:
        return job.tensor_engine_percent
    return min(job.tensor_engine_percent, sum(known.tensor_engine) / MEAN_MINUTES)


def _own_verdict(job: JobSeen, node: Observation, known: Remembered) -> Verdict:
    seen = replace(node, job=job.job_id, holds_cores=job.holds_cores, completed=job.completed, phase=job.phase)
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
    is_idle = job.core_percent is not None and job.core_percent < IDLE_PERCENT
    return stalled_minutes >= HANG_MINUTES and not is_idle


def _lowest(percents: Sequence[float | None]) -> float | None:
    return min((percent for percent in percents if percent is not None), default=None)
