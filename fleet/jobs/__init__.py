"""A training job as somebody asks for it, whether its fleet can run it, how long it takes and what it costs."""

from fleet.jobs.forecast import Forecast, Throughput, forecast
from fleet.jobs.job import Job, Parallel
from fleet.jobs.plan import JobPlan, JobRefusedError, compile_job
from fleet.jobs.rules import diagnose_job
from fleet.jobs.rules.case import JobRule, Standing

__all__ = [
    "Forecast",
    "Job",
    "JobPlan",
    "JobRefusedError",
    "JobRule",
    "Parallel",
    "Standing",
    "Throughput",
    "compile_job",
    "diagnose_job",
    "forecast",
]
