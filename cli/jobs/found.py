"""A job as people name it, and as it was found on AWS Batch or on a pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import complain, say
from environments.fleets import TrainingFleet
from fleet.diagnostics import Diagnostic
from fleet.jobs.forecast import ENDED
from fleet.jobs.job import Job
from fleet.pool.job import PoolJob

Wanted = Annotated[str, typer.Argument(help="A job's id, its name as submitted, or its name in the job file.")]


def say_findings(file: Path, findings: Sequence[Diagnostic]) -> None:
    """One line for each: errors on standard error, the others on standard output."""
    for finding in findings:
        line = f"{file}: {finding.severity}: {finding} [{finding.code}]"
        if finding.is_error:
            complain(line)
        else:
            say(line)


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
