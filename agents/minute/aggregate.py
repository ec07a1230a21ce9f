"""One minute as PutMetricData datums: names, units, shapes and dimension sets from the catalogue.

A figure that was not measured has no datum. While the node is BLIND there is none about its work at all, and the
WhenRunning metrics exist in state RUNNING only: alarms on them cannot see a node that is excused or unseen.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from agents.minute.batch import Datum, JobShare, NodeMinute, iso
from agents.minute.window import Figures, Percentages
from fleet import metrics
from fleet.metrics import MetricSpec
from fleet.node_state import NodeState

_STATE_METRICS: Final[Mapping[NodeState, MetricSpec]] = {
    NodeState.BLIND: metrics.NODES_BLIND,
    NodeState.FAULT: metrics.NODES_FAULT,
    NodeState.DRAINING: metrics.NODES_DRAINING,
    NodeState.NO_JOB: metrics.NODES_NO_JOB,
    NodeState.COMPILING: metrics.NODES_COMPILING,
    NodeState.STARTUP: metrics.NODES_STARTUP,
    NodeState.CHECKPOINT: metrics.NODES_CHECKPOINT,
    NodeState.RUNNING: metrics.NODES_RUNNING,
}
# What CloudWatch takes; NaN is not below it either.
_LARGEST: Final = 2.0**360
_Shape = dict[str, Any]
_Measured = Iterator[tuple[MetricSpec, _Shape]]


def metric_data(entry: NodeMinute) -> tuple[Datum, ...]:
    """The minute's datums: the fleet set of the whole node, then the job set of each job's part of it."""
    node = [
        *_work(entry, entry.figures),
        *_value(metrics.CORES_ALLOCATED, _allocated(entry)),
        *_money(_price(entry), entry.wasted_usd_per_hour),
        *_faults(entry),
        *_states(entry),
        *_worst_job(entry),
        *_load(entry),
        *_own(entry),
    ]
    node.extend(_collected(entry, {spec for spec, _ in node}))
    return (
        *_datums(entry, None, node),
        *(datum for share in entry.jobs for datum in _of_job(entry, share)),
        *_reported(entry),
    )


def _of_job(entry: NodeMinute, share: JobShare) -> Iterator[Datum]:
    measured = [*_work(entry, share.figures), *_money(share.cost_usd_per_hour, share.wasted_usd_per_hour)]
    return _datums(entry, share.job.job_id, measured)


def _reported(entry: NodeMinute) -> Iterator[Datum]:
    for job_id, figures in entry.workload.items():
        yield from _datums(entry, job_id, [each for spec, value in figures.items() for each in _value(spec, value)])
    yield from _datums(entry, None, _of_all_jobs(entry))


def _of_all_jobs(entry: NodeMinute) -> _Measured:
    """What jobs say that the fleet counts too: a node's sum, and nothing where no job says anything."""
    counted = {spec for figures in entry.workload.values() for spec in figures if spec.per_fleet}
    for spec in sorted(counted, key=lambda each: each.name):
        yield from _value(spec, sum(figures[spec] for figures in entry.workload.values() if spec in figures))


def _datums(entry: NodeMinute, job_id: str | None, measured: Iterable[tuple[MetricSpec, _Shape]]) -> Iterator[Datum]:
    values = {metrics.ENVIRONMENT: entry.node.config.environment, metrics.FLEET: entry.node.config.fleet}
    names: tuple[str, ...] = metrics.FLEET_DIMENSIONS
    if job_id is not None:
        values[metrics.JOB_ID], names = job_id, metrics.JOB_DIMENSIONS
    timestamp = iso(entry.minute)
    for spec, shape in measured:
        if names in spec.dimension_sets:
            yield {
                "MetricName": spec.name,
                "Dimensions": [{"Name": name, "Value": values[name]} for name in names],
                "Timestamp": timestamp,
                "Unit": spec.unit.value,
                "StorageResolution": metrics.PERIOD_SECONDS,
                **shape,
            }


def _work(entry: NodeMinute, figures: Figures) -> _Measured:
    state = entry.verdict.state
    if state is NodeState.BLIND:
        return
    running = state is NodeState.RUNNING
    yield from _distribution(metrics.TENSOR_ENGINE_UTILIZATION, figures.tensor)
    yield from _distribution(metrics.NEURON_CORE_UTILIZATION, figures.utilization)
    if running:
        yield from _distribution(metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, figures.tensor)
        yield from _distribution(metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, figures.utilization)
    used = list(figures.device_bytes.values())
    yield from _statistics(metrics.HBM_USED_BYTES, used)
    size = entry.node.layout.device_bytes
    if size:
        yield from _statistics(metrics.HBM_USED_PERCENT, [100 * value / size for value in used])
    yield from _value(metrics.ACHIEVED_TFLOPS, figures.tflops)
    yield from _value(metrics.EXECUTIONS_COMPLETED, figures.completed)
    yield from _value(metrics.EXECUTION_ERRORS, figures.failed)
    yield from _value(metrics.EXECUTION_LATENCY_P99, figures.latency_p99)


def _allocated(entry: NodeMinute) -> int | None:
    allocated = entry.figures.allocated
    return None if allocated is None or entry.verdict.state is NodeState.BLIND else len(allocated)


def _price(entry: NodeMinute) -> float | None:
    return None if entry.node.config.price is None else entry.node.config.price.usd_per_hour


def _money(cost: float | None, wasted: float | None) -> _Measured:
    yield from _value(metrics.COST_USD_PER_HOUR, cost)
    yield from _value(metrics.WASTED_USD_PER_HOUR, wasted)


def _faults(entry: NodeMinute) -> _Measured:
    count = sum(seen.count for seen in entry.hardware_errors)
    yield from _value(metrics.HARDWARE_ERRORS, count if count or entry.figures.hardware_measured else None)


def _collected(entry: NodeMinute, said: AbstractSet[MetricSpec]) -> _Measured:
    # A series has one datum in a minute, and the node's own word comes first.
    for spec, value in entry.collected.metrics.items():
        if spec not in said:
            yield from _value(spec, value)


def _states(entry: NodeMinute) -> _Measured:
    for state, spec in _STATE_METRICS.items():
        yield from _value(spec, int(state is entry.verdict.state))
    yield from _value(metrics.CORES_TOTAL, entry.node.layout.cores)


def _worst_job(entry: NodeMinute) -> _Measured:
    worst = entry.worst_job
    yield from _value(metrics.NODES_HUNG, None if worst.hangs is None else int(worst.hangs))
    yield from _value(metrics.LOWEST_JOB_CORE_UTILIZATION, worst.core_percent)
    yield from _value(metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, worst.tensor_engine_percent)


def _load(entry: NodeMinute) -> _Measured:
    """What endpoints scale with. One node is one datum, so the fleet's Average is that of its nodes."""
    told = entry.collected.event.get("workload", {}).get("jobs", ())
    in_flight = [each["requests_in_flight_mean"] for each in told if "requests_in_flight_mean" in each]
    waited = [each["queue_seconds_mean"] for each in told if "queue_seconds_mean" in each]
    # Of a blind node it is not known which cores serve; an endpoint's task holds all that its fleet's type has.
    cores = _allocated(entry) or entry.node.layout.cores
    yield from _value(metrics.REQUESTS_IN_FLIGHT_PER_CORE, sum(in_flight) / cores if in_flight and cores else None)
    yield from _value(metrics.QUEUE_SECONDS, max(waited, default=None))


def _own(entry: NodeMinute) -> _Measured:
    yield from _value(metrics.AGENT_HEARTBEAT, 1)
    yield from _value(metrics.REPORT_AGE_SECONDS, entry.own.report_age_seconds)
    yield from _value(metrics.SPOOL_BYTES, entry.own.spool_bytes)
    yield from _value(metrics.DROPPED_SAMPLES, entry.own.dropped)
    yield from _value(metrics.PUBLISH_RETRIES, entry.own.retries)
    yield from _value(metrics.AGENT_CPU_PERCENT, entry.own.cpu_percent)
    yield from _value(metrics.AGENT_RSS_BYTES, entry.own.rss_bytes)


def _value(spec: MetricSpec, value: float | None) -> _Measured:
    # One value that CloudWatch does not take would make it refuse the whole call.
    if value is not None and abs(value) <= _LARGEST:
        yield spec, {"Value": float(value)}


def _distribution(spec: MetricSpec, percentages: Percentages) -> _Measured:
    counts = percentages.whole()
    if counts:
        yield (
            spec,
            {"Values": [float(value) for value in counts], "Counts": [float(count) for count in counts.values()]},
        )


def _statistics(spec: MetricSpec, values: list[float] | list[int]) -> _Measured:
    if values:
        statistics = {
            "SampleCount": float(len(values)),
            "Sum": float(sum(values)),
            "Minimum": float(min(values)),
            "Maximum": float(max(values)),
        }
        yield spec, {"StatisticValues": statistics}
