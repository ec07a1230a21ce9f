"""From the plan of a job to the order of a pool: what AWS Batch is told with SubmitJob, for a fleet without Batch."""

from datetime import datetime

from fleet.jobs.plan import JobPlan
from fleet.jobs.submission import variables
from fleet.pool.job import Order
from fleet.pool.observed import PoolDeployment


def order(plan: JobPlan, place: PoolDeployment, *, name: str, job_id: str, now: datetime) -> Order:
    """The order under ``name``; ``job_id`` is a UUID that no other submission uses."""
    job = plan.job
    return Order(
        job_id=job_id,
        name=name,
        job=job.name,
        fleet=job.fleet,
        owner=job.owner,
        nodes=job.nodes,
        command=job.command,
        variables=tuple(variables(plan).items()),
        created_at=now,
        timeout_seconds=plan.timeout_seconds or place.longest_job_seconds,
        attempts=place.attempts,
        priority=1 if job.priority is None else job.priority,
        tokens_wanted=job.tokens_wanted,
        checkpoint=job.checkpoint,
    )
