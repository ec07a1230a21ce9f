"""One job at one look: what has become of its containers, and what follows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from fleet.pool.actions import StopTask
from fleet.pool.job import HOLDS_NODES, Attempt, Phase, PoolJob, Rank
from fleet.pool.observed import Outcome, PoolDeployment, Task, outcome

# ECS shows a task moments after it was started; a container that is told to end is gone soon after its time is over.
_SHOWN: Final = timedelta(minutes=2)
_GONE: Final = timedelta(minutes=3)
_NEVER_SEEN: Final = "ECS started no task on the node"
_VANISHED: Final = "its task is gone"


def advance(
    job: PoolJob,
    place: PoolDeployment,
    tasks: Iterable[Task],
    leaving: Mapping[str, str],
    stop: str | None,
    now: datetime,
) -> PoolJob:
    """The job as it stands at ``now``.

    ``leaving`` are nodes that cannot be kept, by id, and why; ``stop`` is who wants the job ended, None: nobody.
    """
    if job.is_over:
        return job
    if job.phase is Phase.WAITING:
        return _end(job, Phase.FAILED, f"stopped by {stop}", now) if stop is not None else job
    job = _with_tasks(job, place, tasks, now)
    attempt = job.attempts[-1]
    if job.phase is not Phase.STOPPING:
        job = _stopping(job, place, attempt, leaving, stop, now) or _running(job, attempt, now)
    elif stop is not None and not job.fails_with:
        job = replace(job, fails_with=f"stopped by {stop}")
    return _concluded(job, attempt, now) if attempt.is_over else job


def to_stop(job: PoolJob) -> Iterator[StopTask]:
    """What of a job that is stopping still runs; it is told each time, for a call may have been lost."""
    if job.phase is not Phase.STOPPING or job.last is None:
        return
    for rank in job.last.ranks:
        if rank.task and not rank.is_over:
            yield StopTask(rank.task, (job.fails_with or job.reason)[:200])


def orphans(jobs: Iterable[PoolJob], tasks: Iterable[Task]) -> Iterator[StopTask]:
    """What runs for an attempt that is over, as after a start that was cut off. Tasks of other people are theirs."""
    running = {(job.order.job_id, job.last.number) for job in jobs if job.phase in HOLDS_NODES and job.last is not None}
    for task in tasks:
        if task.job_id and not task.is_over and (task.job_id, task.attempt) not in running:
            yield StopTask(task.arn, "its attempt is over")


def held(jobs: Iterable[PoolJob]) -> Collection[str]:
    """The nodes that belong to some job, by id, whether or not ECS shows its tasks yet."""
    return {
        rank.instance_id
        for job in jobs
        if not job.is_over and job.last is not None
        for rank in job.last.ranks
        if not rank.is_over
    }


def _with_tasks(job: PoolJob, place: PoolDeployment, tasks: Iterable[Task], now: datetime) -> PoolJob:
    attempt = job.attempts[-1]
    own = {t.index: t for t in tasks if (t.job_id, t.attempt) == (job.order.job_id, attempt.number)}
    ranks = tuple(_rank(rank, own.get(rank.index), job, place, now) for rank in attempt.ranks)
    return replace(job, attempts=(*job.attempts[:-1], replace(attempt, ranks=ranks)))


def _rank(rank: Rank, task: Task | None, job: PoolJob, place: PoolDeployment, now: datetime) -> Rank:
    if rank.is_over:
        return rank
    is_overdue = job.phase is Phase.STOPPING and now - job.since > place.drain + _GONE
    if task is not None and (task.is_over or not is_overdue):
        return replace(
            rank, task=task.arn, started_at=task.started_at, stopped_at=task.stopped_at, exit_code=task.exit_code,
            stop_code=task.stop_code, reason=task.reason,
        )  # fmt: skip
    # What ECS cannot end in time runs on a host that does not answer.
    if rank.task or now - job.attempts[-1].begun_at > _SHOWN:
        return replace(rank, stopped_at=now, stop_code="Lost", reason=_VANISHED if rank.task else _NEVER_SEEN)
    return rank


def _stopping(
    job: PoolJob, place: PoolDeployment, attempt: Attempt, leaving: Mapping[str, str], stop: str | None, now: datetime
) -> PoolJob | None:
    """The job on its way to its end, if there is a reason for that."""
    if stop is not None:
        return _stop(job, now, f"stopped by {stop}", fails_with=f"stopped by {stop}")
    found = outcome(attempt)
    if found is not None:
        return _stop(job, now, found.reason)
    gone = next((rank for rank in attempt.ranks if rank.instance_id in leaving and not rank.is_over), None)
    if gone is not None:
        return _stop(job, now, f"node {gone.index} ({gone.instance_id}): {leaving[gone.instance_id]}")
    age = (now - attempt.begun_at).total_seconds()
    if job.phase is Phase.STARTING and age > place.start_seconds:
        return _stop(job, now, f"not all of its containers ran within {place.start_seconds // 60} minutes")
    if age > job.order.timeout_seconds:
        late = f"it ran longer than {job.order.timeout_seconds / 3600:g} h"
        return _stop(job, now, late, fails_with=late)
    return None


def _stop(job: PoolJob, now: datetime, reason: str, fails_with: str = "") -> PoolJob:
    return replace(job, phase=Phase.STOPPING, since=now, reason=reason, fails_with=fails_with)


def _running(job: PoolJob, attempt: Attempt, now: datetime) -> PoolJob:
    if job.phase is Phase.STARTING and all(rank.started_at is not None for rank in attempt.ranks):
        return replace(job, phase=Phase.RUNNING, since=now, reason="")
    return job


def _concluded(job: PoolJob, attempt: Attempt, now: datetime) -> PoolJob:
    if job.fails_with:
        return _end(job, Phase.FAILED, job.fails_with, now)
    # Where nothing ended of itself, the job was stopped for its nodes' sake, and said why.
    found = outcome(attempt) or Outcome(job.reason, is_retried=True)
    if found.is_success:
        return _end(job, Phase.SUCCEEDED, "", now)
    if not found.is_retried:
        return _end(job, Phase.FAILED, found.reason, now)
    if attempt.number >= job.order.attempts:
        return _end(job, Phase.FAILED, f"{found.reason}; that was attempt {attempt.number} of {attempt.number}", now)
    return replace(job, phase=Phase.WAITING, since=now, reason=found.reason, fails_with="")


def _end(job: PoolJob, phase: Phase, reason: str, now: datetime) -> PoolJob:
    return replace(job, phase=phase, since=now, reason=reason, fails_with="")
