"""One minute as the node's log event: what metrics per fleet and job cannot hold, by core and by device.

Properties only; CloudWatch extracts no metric from it. No paths, no model names, no tags in the clear. A property that
was not measured is absent, or null inside a list.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from agents.config import PriceConfig
from agents.minute.batch import Event, JobShare, NodeMinute
from agents.minute.batch import iso as iso_time
from agents.minute.event_size import bounded
from agents.minute.job_shares import announced, whose
from agents.monitor.decode.report import Ecc
from agents.price import is_stale
from fleet import metrics
from fleet.node_state import NodeState
from fleet.version import VERSION

SCHEMA: Final = 1


def log_event(entry: NodeMinute) -> Event:
    """The event; times in ``_aws`` are milliseconds."""
    config, node, verdict = entry.node.config, entry.node, entry.verdict
    price = config.price
    event: Event = {
        "schema": SCHEMA,
        "environment": config.environment,
        "fleet": config.fleet,
        "node": node.name,
        "instance_type": node.instance_type,
        "availability_zone": node.availability_zone,
        "job": entry.job.job_id if entry.job else None,
        "job_name": entry.job.name if entry.job else None,
        "owner": entry.job.owner if entry.job and entry.job.owner else config.owner,
        "state": verdict.state.value,
        "state_reason": verdict.reason,
        "seq": entry.seq,
        "boot_id": node.boot_id or None,
        "minute": iso_time(entry.minute),
        "cost_usd_per_hour": price.usd_per_hour if price else None,
        "wasted_usd_per_hour": entry.wasted_usd_per_hour,
        "jobs": [_job(entry, share) for share in entry.jobs] or None,
        "price": _price(price, entry.minute) if price else None,
        "hardware_errors": _hardware_errors(entry),
        "problems": list(entry.problems) or None,
        "collectors_off": list(config.collectors_off) or None,
        "agent_version": VERSION,
        "_aws": {"Timestamp": entry.minute * 1000, "CloudWatchMetrics": []},
    }
    event.update(_work(entry) if _is_measured(entry) else {})
    # No collector may speak over the node's own properties.
    return bounded({**entry.collected.event, **{name: value for name, value in event.items() if value is not None}})


def _price(price: PriceConfig, minute: int) -> Mapping[str, Any]:
    told: Mapping[str, Any] = msgspec.to_builtins(price)
    # Said only where it is: it would be billed with every minute of every node.
    return {**told, "stale": True} if is_stale(price, minute) else told


def _job(entry: NodeMinute, share: JobShare) -> dict[str, Any]:
    # A job that hangs beside one that runs shows here only: the node's own figures hold both.
    figures, job = share.figures, share.job
    seen = {
        "executions_completed": figures.completed,
        "execution_errors": figures.failed,
        "tensor_engine_utilization": _rounded(figures.tensor.mean()),
        "neuron_core_utilization": _rounded(figures.utilization.mean()),
        "slowest_core_utilization": _rounded(min(figures.utilization.core_means().values(), default=None)),
    }
    entries = {
        "job": job.job_id,
        "job_name": job.name,
        "owner": job.owner or entry.node.config.owner,
        "known_by": job.known_by.value,
        "cores": _rounded(share.cores),
        **(seen if _is_measured(entry) else {}),
        **_reported(entry, job.job_id),
        # Said only where it is so.
        "idle": job.job_id in entry.worst_job.idle or None,
        "waiting": job.job_id in entry.worst_job.waiting or None,
        "hung": job.job_id in entry.worst_job.hung or None,
        "vain_runs": len(entry.crash_loops[job.job_id].vain) if job.job_id in entry.crash_loops else None,
        "phase": _phase(entry, job.job_id),
        "cost_usd_per_hour": share.cost_usd_per_hour,
        "wasted_usd_per_hour": share.wasted_usd_per_hour,
    }
    return {name: value for name, value in entries.items() if value is not None}


def _reported(entry: NodeMinute, job_id: str) -> dict[str, Any]:
    # What its work costs is asked of the events: metrics do not say which node's minutes they are of.
    figures = entry.workload.get(job_id, {})
    return {
        "tokens_per_second": figures.get(metrics.TOKENS_PER_SECOND),
        "samples_per_second": figures.get(metrics.SAMPLES_PER_SECOND),
        "step": _step(entry, job_id),
        # Said only where there were any: a page asks which job it was.
        "non_finite_losses": figures.get(metrics.NON_FINITE_LOSS) or None,
    }


def _phase(entry: NodeMinute, job_id: str) -> str | None:
    phase = announced(job_id, entry.collected.phases, [share.job.job_id for share in entry.jobs])
    return phase.name if phase else None


def _step(entry: NodeMinute, job_id: str) -> int | None:
    jobs = [share.job.job_id for share in entry.jobs]
    reports = entry.collected.workload_reports
    steps = [each.step for each in reports if each.step is not None and whose(each.job, jobs) == job_id]
    return max(steps, default=None)


def _is_measured(entry: NodeMinute) -> bool:
    # A node that went BLIND late in the minute has reports from before: metrics leave them out, the record does not.
    return entry.verdict.state is not NodeState.BLIND or (entry.figures.reports > 0 and entry.figures.blind is None)


def _hardware_errors(entry: NodeMinute) -> list[dict[str, Any]] | None:
    errors = [
        {
            "kind": seen.error.kind,
            "action": seen.action.value,
            "device": seen.device,
            "count": seen.count,
            "sources": list(seen.sources),
        }
        for seen in entry.hardware_errors
    ]
    # No errors is something to say only of counters that were read.
    return errors if errors or entry.figures.hardware_measured else None


def _work(entry: NodeMinute) -> dict[str, Any]:
    figures, layout = entry.figures, entry.node.layout
    most = max(figures.device_bytes.values(), default=None)
    return {
        "tensor_engine_utilization": _rounded(figures.tensor.mean()),
        "neuron_core_utilization": _rounded(figures.utilization.mean()),
        "hbm_used_percent": _rounded(100 * most / layout.device_bytes)
        if most is not None and layout.device_bytes
        else None,
        "executions_completed": figures.completed,
        "execution_errors": figures.failed,
        "execution_errors_by_kind": dict(figures.errors) or None,
        "cores": _cores(entry),
        "cores_per_device": layout.cores_per_device,
        "core_peak_flops": layout.peak_flops if figures.flops_by_core else None,
        "device_memory_bytes": layout.device_bytes if figures.device_bytes else None,
        "device_used_bytes": _array(layout.devices or 0, figures.device_bytes) if figures.device_bytes else None,
        "devices": _devices(figures.ecc),
        "runtimes": {
            "pid": [pid for pid, _ in figures.runtimes],
            "tag_hash": [_hash(tag) for _, tag in figures.runtimes],
        },
    }


def _devices(ecc: Sequence[Ecc]) -> dict[str, Any] | None:
    # Lists by device, as everywhere in the event: names that are repeated for each would be most of what is billed.
    counters = sorted({name for device in ecc for name in device.counters})
    if not counters:
        return None
    return {
        "index": [device.device for device in ecc],
        "ecc": {name: [device.counters.get(name) for device in ecc] for name in counters},
    }


def _cores(entry: NodeMinute) -> dict[str, list[Any]] | None:
    figures = entry.figures
    count = entry.node.layout.cores
    if count is None or not figures.reports:
        return None
    arrays = {
        "utilization": _array(count, {core: round(mean, 2) for core, mean in figures.utilization.core_means().items()}),
        "flops": _array(count, {core: int(rate) for core, rate in figures.flops_by_core.items()}),
        "bytes": _array(count, figures.core_bytes),
    }
    return {name: array for name, array in arrays.items() if any(value is not None for value in array)} or None


def _array(count: int, figures: Mapping[int, float]) -> list[Any]:
    return [figures.get(core) for core in range(count)]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _hash(tag: str) -> str:
    return hashlib.sha256(tag.encode()).hexdigest()[:8]
