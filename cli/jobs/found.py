"""A job that was found, on AWS Batch or on a pool."""

from dataclasses import dataclass
from datetime import datetime

from environments.fleets import TrainingFleet
from fleet.jobs.forecast import ENDED
from fleet.jobs.job import Job
from fleet.pool.job import PoolJob


@dataclass(frozen=True, slots=True)
class Found:
    """One job; ``created``, ``started`` and ``stopped`` are UTC, None: not yet."""

    job_id: str
    name: str
    fleet: TrainingFleet
    job: Job
    status: str
    reason: str
    created: datetime | None
    started: datetime | None
    stopped: datetime | None
    attempts: int
    pool_job: PoolJob | None = None
    """Of a job on a pool, as it was found."""
    is_container: bool = False
    """Whether it is one container of AWS Batch, without nodes of a job and without checkpoints: it compiles."""

    @property
    def is_over(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self.status in ENDED
