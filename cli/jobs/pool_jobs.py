"""Jobs on pools in the shape in which `fleet jobs` shows those on AWS Batch."""

from cli.account import Account
from cli.jobs import pools
from cli.jobs.found import Found
from cli.jobs.submission_targets import NotDeployedError
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet.jobs.job import Job
from fleet.pool.job import PoolJob


def found_on_pools(account: Account, environment: Environment) -> list[Found] | None:
    """The jobs of every pool that is deployed; None where none is."""
    found: list[Found] | None = None
    for fleet in environment.pool_fleets:
        try:
            jobs = list(pools.jobs_of(account, environment, fleet))
        except NotDeployedError:
            if not environment.batch_fleets:
                raise
            continue
        found = [*(found or []), *(_of_pool(fleet, job) for job in jobs)]
    return found


def _of_pool(fleet: TrainingFleet, job: PoolJob) -> Found:
    asked, last = job.order, job.last
    starts = [rank.started_at for rank in last.ranks if rank.started_at] if last else []
    return Found(
        job_id=asked.job_id,
        name=asked.name,
        fleet=fleet,
        job=Job(asked.job, asked.owner, fleet.name, asked.nodes, "", (), tokens_wanted=asked.tokens_wanted),
        status=pools.status(job),
        reason=job.reason,
        created=asked.created_at,
        started=min(starts, default=None),
        stopped=job.since if job.is_over else None,
        attempts=sum(attempt.is_over for attempt in job.attempts),
        pool_job=job,
    )
