"""What is known of a node at the end of a minute, what was wrong in it, and the batch that is published of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.collectors.seen_error import SeenError, combined
from agents.config import AgentConfig
from agents.minute.report_freshness import ReportFreshness
from agents.minute.window import Figures
from agents.monitor.layout import Layout
from fleet.crash_loop import Runs
from fleet.job_progress import WorstJob
from fleet.metrics import MetricSpec
from fleet.node_state import Verdict

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import MetricDatumTypeDef

    Datum = MetricDatumTypeDef
else:
    # As which the spool's files are read.
    Datum = dict[str, Any]
Event = dict[str, Any]
_PIDS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class SelfFigures:
    """What the agent says of itself; counts are of the minute. None is not measured."""

    report_age_seconds: float = 0.0
    spool_bytes: int | None = 0
    dropped: int | None = 0
    retries: int | None = 0
    cpu_percent: float | None = None
    rss_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """Who the node is: configuration first, the report and instance metadata for what it leaves open."""

    config: AgentConfig
    name: str
    instance_type: str | None
    availability_zone: str | None
    boot_id: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class JobShare:
    """One job's part of a node: ``cores`` that it holds, what they did, and its part of the price.

    A core that several jobs hold counts as a fraction; the costs of all jobs add up to the node's price.
    """

    job: Job
    cores: float
    figures: Figures
    cost_usd_per_hour: float | None
    wasted_usd_per_hour: float | None


@dataclass(frozen=True, slots=True)
class NodeMinute:
    """Everything that a minute's datums and log event are made of. ``minute`` is its start in unix seconds.

    ``jobs`` are the node's, the one with most cores first; ``workload`` is what jobs report of themselves, by job id.
    ``crash_loops`` are jobs that start in vain, which may be away for the moment.
    """

    node: Node
    minute: int
    seq: int
    figures: Figures
    verdict: Verdict
    jobs: tuple[JobShare, ...]
    workload: Mapping[str, Mapping[MetricSpec, float]]
    wasted_usd_per_hour: float | None
    own: SelfFigures
    problems: tuple[str, ...]
    collected: Contribution
    worst_job: WorstJob = field(default_factory=WorstJob)
    crash_loops: Mapping[str, Runs] = field(default_factory=dict)

    @property
    def job(self) -> Job | None:
        """The job with most of the cores; None when there is none."""
        return self.jobs[0].job if self.jobs else None

    @property
    def hardware_errors(self) -> tuple[SeenError, ...]:
        """The minute's faults, each once, whoever saw it."""
        return combined((*self.figures.hardware_errors, *self.collected.hardware_errors))


@dataclass(frozen=True, slots=True)
class Batch:
    """One minute as it is spooled and sent: exact PutMetricData datums, and one log event."""

    minute: int
    seq: int
    stream: str
    metric_data: tuple[Datum, ...]
    log_event: Mapping[str, Any]


def iso(minute: int) -> str:
    """``minute`` as ISO 8601 with Z."""
    return datetime.fromtimestamp(minute, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def problems(
    figures: Figures, collected: Contribution, monitor: str | None, freshness: ReportFreshness, node: Node
) -> Iterator[str]:
    """What was wrong in a minute, for people, a line each. ``monitor`` is why there is none."""
    if monitor:
        yield monitor
    yield from figures.blind_reports
    yield from figures.problems
    if freshness.unreadable:
        yield f"{freshness.unreadable} unreadable lines, the last: {freshness.last_unreadable}"
    yield from collected.problems
    held = {pid: figures.cores_by_pid[pid] for pid in collected.ended if pid in figures.cores_by_pid}
    if held:
        pids = ", ".join(str(pid) for pid in sorted(held)[:_PIDS_SHOWN])
        yield f"{sum(held.values())} cores are held by {len(held)} processes that have ended: pid {pids}"
    for name, excess in (("core", figures.utilization.excess()), ("tensor-engine", figures.tensor.excess())):
        if excess:
            yield f"{name} utilization: {excess}"
    if figures.flops_by_core and node.layout.peak_flops is None:
        yield f"no tensor-engine peak is known for {node.config.dtype} on {node.instance_type}"
