"""One minute as PutMetricData datums: names, units, shapes and dimension sets from the catalogue, and as the batch.

A figure that was not measured has no datum. While the node is BLIND there is none about its work at all, and the
WhenRunning metrics exist in state RUNNING only: alarms on them cannot see a node that is excused or unseen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict

from agents.minute.batch import Batch, Datum, JobShare, NodeMinute, iso
from agents.minute.log_event import log_event
from agents.minute.window import Figures, Percentages
from fleet import metrics
from fleet.metrics import Kind, MetricSpec
from fleet.node_state import NodeState
from fleet.without_job import is_unused

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import StatisticSetTypeDef

# One of these is 1 in a minute, the others are 0. What a job announces counts as a checkpoint does: it ends.
_STATE_METRICS: Final[Mapping[NodeState, MetricSpec]] = {
    NodeState.BLIND: metrics.NODES_BLIND,
    NodeState.FAULT: metrics.NODES_FAULT,
    NodeState.DRAINING: metrics.NODES_DRAINING,
    NodeState.NO_JOB: metrics.NODES_NO_JOB,
    NodeState.COMPILING: metrics.NODES_COMPILING,
    NodeState.STARTUP: metrics.NODES_STARTUP,
    NodeState.CHECKPOINT: metrics.NODES_CHECKPOINT,
    NodeState.PHASE: metrics.NODES_CHECKPOINT,
    NodeState.WAITING: metrics.NODES_STARTUP,
    NodeState.RUNNING: metrics.NODES_RUNNING,
}


class _Shape(TypedDict, total=False):
    Value: float
    Values: list[float]
    Counts: list[float]
    StatisticValues: "StatisticSetTypeDef"


# What CloudWatch takes; NaN is not below it either.
_LARGEST: Final = 2.0**360
# Metrics and what was measured: of a distribution percentages, of statistics every value, of other kinds one.
_Measured = Iterator[tuple[MetricSpec, Percentages | Sequence[float] | float | None]]


def batch_of(entry: NodeMinute) -> Batch:
    """What is published of a minute."""
    stream = f"{entry.node.config.fleet}/{entry.node.name}"
    return Batch(entry.minute, entry.seq, stream, metric_data(entry), log_event(entry))


def metric_data(entry: NodeMinute) -> tuple[Datum, ...]:
    """The minute's datums: the fleet set of the whole node, then the job set of each job's part of it."""
    node = _shaped(_of_node(entry))
    # A series has one datum in a minute, and the node's own word comes first.
    node |= _shaped((spec, value) for spec, value in entry.collected.metrics.items() if spec not in node)
    return (
        *_datums(entry, None, node),
        *(datum for share in entry.jobs for datum in _datums(entry, share.job.job_id, _shaped(_of_job(entry, share)))),
        *(datum for job_id, said in entry.workload.items() for datum in _datums(entry, job_id, _shaped(said.items()))),
        *_datums(entry, None, _shaped(_of_all_jobs(entry))),
    )


def _shaped(measured: Iterable[tuple[MetricSpec, Any]]) -> dict[MetricSpec, _Shape]:
    """Each in the shape of its kind, without those that were not measured."""
    shapes = ((spec, _SHAPES[spec.kind](value)) for spec, value in measured if value is not None)
    return {spec: shape for spec, shape in shapes if shape}


def _datums(entry: NodeMinute, job_id: str | None, shapes: Mapping[MetricSpec, _Shape]) -> Iterator[Datum]:
    values = {metrics.ENVIRONMENT: entry.node.config.environment, metrics.FLEET: entry.node.config.fleet}
    names: tuple[str, ...] = metrics.FLEET_DIMENSIONS
    if job_id is not None:
        values[metrics.JOB_ID], names = job_id, metrics.JOB_DIMENSIONS
    timestamp = iso(entry.minute)
    for spec, shape in shapes.items():
        if names in spec.dimension_sets:
            yield {
                "MetricName": spec.name,
                "Dimensions": [{"Name": name, "Value": values[name]} for name in names],
                "Timestamp": timestamp,
                "Unit": spec.unit.value,
                "StorageResolution": metrics.PERIOD_SECONDS,
                **shape,
            }


def _of_node(entry: NodeMinute) -> _Measured:
    purpose = entry.node.config.purpose
    yield from ((spec, value) for spec, value in _work(entry, entry.figures) if spec.only_of in {None, purpose})
    yield metrics.CORES_ALLOCATED, _allocated(entry)
    price = entry.node.config.price
    yield metrics.COST_USD_PER_HOUR, None if price is None else price.usd_per_hour
    yield metrics.WASTED_USD_PER_HOUR, entry.wasted_usd_per_hour
    errors = sum(seen.count for seen in entry.hardware_errors)
    yield metrics.HARDWARE_ERRORS, errors if errors or entry.figures.hardware_measured else None
    for spec in dict.fromkeys(_STATE_METRICS.values()):
        yield spec, int(spec is _STATE_METRICS[entry.verdict.state])
    yield metrics.CORES_TOTAL, entry.node.layout.cores
    worst = entry.worst_job
    # An endpoint without requests completes nothing, and is well.
    trains = purpose == "training"
    yield metrics.NODES_HUNG, int(worst.hangs) if trains and worst.hangs is not None else None
    if trains:
        yield metrics.NODES_UNUSED, is_unused(entry.verdict, entry.node.config.without_job_minutes)
        is_blind = entry.verdict.state is NodeState.BLIND
        share = min(1.0, sum(runs.share for runs in entry.crash_loops.values()))
        yield metrics.NODES_CRASH_LOOPING, None if is_blind else share
    yield metrics.NODES_IDLE, worst.idle_share
    yield metrics.LOWEST_JOB_CORE_UTILIZATION, worst.core_percent
    yield metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, worst.tensor_engine_percent
    yield from _load(entry)
    yield from _own(entry)


def _of_job(entry: NodeMinute, share: JobShare) -> _Measured:
    yield from _work(entry, share.figures)
    yield metrics.COST_USD_PER_HOUR, share.cost_usd_per_hour
    yield metrics.WASTED_USD_PER_HOUR, share.wasted_usd_per_hour


def _of_all_jobs(entry: NodeMinute) -> _Measured:
    """What jobs say that the fleet counts too: a node's sum, and nothing where no job says anything."""
    counted = {spec for figures in entry.workload.values() for spec in figures if spec.per_fleet}
    for spec in sorted(counted, key=lambda each: each.name):
        yield spec, sum(figures[spec] for figures in entry.workload.values() if spec in figures)


def _work(entry: NodeMinute, figures: Figures) -> _Measured:
    if entry.verdict.state is NodeState.BLIND:
        return
    yield metrics.TENSOR_ENGINE_UTILIZATION, figures.tensor
    yield metrics.NEURON_CORE_UTILIZATION, figures.utilization
    if entry.verdict.state is NodeState.RUNNING:
        yield metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, figures.tensor
        yield metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, figures.utilization
    used, size = list(figures.device_bytes.values()), entry.node.layout.device_bytes
    yield metrics.HBM_USED_BYTES, used
    yield metrics.HBM_USED_PERCENT, [100 * value / size for value in used] if size else None
    yield metrics.ACHIEVED_TFLOPS, figures.tflops
    yield metrics.EXECUTIONS_COMPLETED, figures.completed
    yield metrics.EXECUTION_ERRORS, figures.failed
    yield metrics.EXECUTION_LATENCY_P99, figures.latency_p99


def _allocated(entry: NodeMinute) -> int | None:
    allocated = entry.figures.allocated
    return None if allocated is None or entry.verdict.state is NodeState.BLIND else len(allocated)


def _load(entry: NodeMinute) -> _Measured:
    """What endpoints scale with. One node is one datum, so the fleet's Average is that of its nodes."""
    reports = entry.collected.workload_reports
    in_flight = [each.requests_in_flight_mean for each in reports if each.requests_in_flight_mean is not None]
    waited = [each.queue_seconds_mean for each in reports if each.queue_seconds_mean is not None]
    # Of a blind node it is not known which cores serve; an endpoint's task holds all that its fleet's type has.
    cores = _allocated(entry) or entry.node.layout.cores
    yield metrics.REQUESTS_IN_FLIGHT_PER_CORE, sum(in_flight) / cores if in_flight and cores else None
    yield metrics.QUEUE_SECONDS, max(waited, default=None)


def _own(entry: NodeMinute) -> _Measured:
    own = entry.own
    yield metrics.AGENT_HEARTBEAT, 1
    yield metrics.REPORT_AGE_SECONDS, own.report_age_seconds
    yield metrics.SPOOL_BYTES, own.spool_bytes
    yield metrics.DROPPED_SAMPLES, own.dropped
    yield metrics.PUBLISH_RETRIES, own.retries
    yield metrics.AGENT_CPU_PERCENT, own.cpu_percent
    yield metrics.AGENT_RSS_BYTES, own.rss_bytes


def _value(value: float) -> _Shape | None:
    # One value that CloudWatch does not take would make it refuse the whole call.
    return {"Value": float(value)} if abs(value) <= _LARGEST else None


def _distribution(percentages: Percentages) -> _Shape | None:
    counts = percentages.whole()
    if not counts:
        return None
    return {"Values": [float(value) for value in counts], "Counts": [float(count) for count in counts.values()]}


def _statistics(values: Sequence[float]) -> _Shape | None:
    if not values:
        return None
    statistics: StatisticSetTypeDef = {
        "SampleCount": float(len(values)),
        "Sum": float(sum(values)),
        "Minimum": float(min(values)),
        "Maximum": float(max(values)),
    }
    return {"StatisticValues": statistics}


_SHAPES: Final[Mapping[Kind, Callable[[Any], _Shape | None]]] = {
    Kind.DISTRIBUTION: _distribution,
    Kind.STATISTICS: _statistics,
    Kind.GAUGE: _value,
    Kind.PER_MINUTE: _value,
    Kind.STATE: _value,
}
