"""What the agent's loop asks of a collector, and what a collector adds to a minute.

A collector is one file. It is asked once a minute, in a thread of its own (see ``pool``), so it may take its time and
may raise; what it then adds is missing from the minute, and never zero.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from agents.collectors.jobs.job import Job
from agents.collectors.seen_error import SeenError
from fleet.metrics import Kind, MetricSpec
from fleet.patience import Announced


@dataclass(frozen=True, slots=True)
class Request:
    """The end of a minute: ``now`` in unix seconds, ``pids`` of the runtimes on the host, the largest holder first."""

    now: float
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadReport:
    """What the ranks of one job reported in the minute besides metrics; ``job`` is empty for the node's only job.

    Means and maxima are over the ranks; the log event's ``workload.jobs`` has the same names.
    """

    job: str
    ranks: int
    step: int | None = None
    step_seconds_mean: float | None = None
    step_seconds_max: float | None = None
    queue_seconds_mean: float | None = None
    queue_seconds_max: float | None = None
    requests_in_flight_mean: float | None = None
    requests_in_flight_max: float | None = None

    def properties(self) -> dict[str, str | float]:
        """What was reported, by the names of the log event."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one collector saw in the minute. A metric that was not measured is absent.

    ``metrics`` are of the fleet set and ``job_metrics`` of the job set, by job id; ``event`` are properties of the log
    event. A job id of "" means the node's only job. ``jobs`` is None from whoever does not look for jobs, and ``ended``
    are runtimes whose process is gone. ``workload_reports`` have one entry for each job that reports. ``draining`` is a
    reason; ``compiling``, ``checkpoint`` and ``waits_for_lock`` are evidence for the node's state, ``phases`` what
    jobs announce. ``problems`` are for people and end up in the log event.
    """

    metrics: Mapping[MetricSpec, float] = field(default_factory=dict)
    job_metrics: Mapping[str, Mapping[MetricSpec, float]] = field(default_factory=dict)
    event: Mapping[str, Any] = field(default_factory=dict)
    hardware_errors: tuple[SeenError, ...] = ()
    jobs: tuple[Job, ...] | None = None
    ended: tuple[int, ...] = ()
    workload_reports: tuple[WorkloadReport, ...] = ()
    draining: str | None = None
    compiling: bool = False
    checkpoint: bool = False
    waits_for_lock: bool = False
    phases: tuple[Announced, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What collectors said for the node's state, as in ``Contribution``."""

    draining: str | None = None
    compiling: bool = False
    checkpoint: bool = False
    waits_for_lock: bool = False
    phases: tuple[Announced, ...] = ()


class Collector(Protocol):
    """One source of figures."""

    @property
    def name(self) -> str:
        """Its name in problems and logs."""
        ...

    def collect(self, request: Request) -> Contribution:
        """What happened since the last call. Whatever it raises becomes a problem of the minute."""
        ...


def merged(contributions: Iterable[Contribution]) -> Contribution:
    """All of them as one: counts add up, of gauges the last one holds, and the first reason to drain counts."""
    parts = tuple(contributions)
    metrics: dict[MetricSpec, float] = {}
    by_job: dict[str, dict[MetricSpec, float]] = {}
    for part in parts:
        add(metrics, part.metrics)
        for job_id, figures in part.job_metrics.items():
            add(by_job.setdefault(job_id, {}), figures)
    jobs = [part.jobs for part in parts if part.jobs is not None]
    return Contribution(
        metrics=metrics,
        job_metrics=by_job,
        event={name: value for part in parts for name, value in part.event.items()},
        hardware_errors=tuple(error for part in parts for error in part.hardware_errors),
        jobs=tuple(job for each in jobs for job in each) if jobs else None,
        ended=tuple(pid for part in parts for pid in part.ended),
        workload_reports=tuple(report for part in parts for report in part.workload_reports),
        draining=next((part.draining for part in parts if part.draining is not None), None),
        compiling=any(part.compiling for part in parts),
        checkpoint=any(part.checkpoint for part in parts),
        waits_for_lock=any(part.waits_for_lock for part in parts),
        phases=tuple(phase for part in parts for phase in part.phases),
        problems=tuple(problem for part in parts for problem in part.problems),
    )


def add(totals: dict[MetricSpec, float], figures: Mapping[MetricSpec, float]) -> None:
    """Take ``figures`` into ``totals``: counts add up, of gauges the last one holds."""
    for spec, value in figures.items():
        is_count = spec.kind is Kind.PER_MINUTE
        totals[spec] = totals[spec] + value if is_count and spec in totals else value
