"""From a job that somebody asks for to what a scheduler must be told: ranks, time-out, and what it will cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from fleet import FleetError
from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import FleetSpec
from fleet.instances import instance_type
from fleet.jobs.forecast import Forecast
from fleet.jobs.job import Job
from fleet.jobs.rules import diagnose_job
from fleet.jobs.rules.case import JobCase, JobRule, Standing


class JobRefusedError(FleetError, ValueError):
    """A job that cannot run; ``diagnostics`` say why, one line each."""

    def __init__(self, job: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Keep the errors among ``diagnostics``."""
        self.diagnostics = tuple(diagnostic for diagnostic in diagnostics if diagnostic.is_error)
        super().__init__("\n".join(f"job {job}: {diagnostic}" for diagnostic in self.diagnostics))


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What is submitted. ``timeout_seconds`` None: nothing ends it but itself."""

    job: Job
    ranks_per_node: int
    cores_per_node: int
    """Logical cores that a node has; those beyond ``ranks_per_node`` are left to something else."""
    world_size: int
    data_parallel: int
    timeout_seconds: int | None
    forecast: Forecast | None
    notes: tuple[Diagnostic, ...]


def compile_job(
    job: Job, spec: FleetSpec, *, standing: Standing | None = None, further: Sequence[JobRule] = ()
) -> JobPlan:
    """The plan for ``job`` on the fleet ``spec``.

    Raises:
        JobRefusedError: it cannot run; ``diagnose_job`` gives the same without raising.
    """
    standing = standing or Standing()
    diagnostics = diagnose_job(job, spec, standing=standing, further=further)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise JobRefusedError(job.name, diagnostics)
    case = JobCase(job, spec, instance_type(spec.instance_type), standing)
    limits = [case.seconds_of_block, _seconds(job.longest_hours)]
    if any(limit is not None for limit in limits):
        # Without any, the fleet's own time-out holds.
        limits.append(_seconds(standing.longest_hours))
    return JobPlan(
        job=job,
        ranks_per_node=case.cores_per_node,
        cores_per_node=case.logical_cores,
        world_size=case.world_size,
        data_parallel=case.world_size // case.model_size,
        timeout_seconds=min((seconds for seconds in limits if seconds is not None), default=None),
        forecast=case.forecast,
        notes=diagnostics,
    )


def _seconds(hours: float | None) -> int | None:
    return None if hours is None else int(hours * 3600)
