"""The groups of one runtime: core counters, memory, executions. Beside them the host's CPUs.

Each yields None where it was not measured.

An absent group was not due and says nothing; a null one, or one with an error, could not be read, and that is said.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from agents.monitor.decode import plausible, schema
from agents.monitor.decode.plausible import CORE_INDEX, MOST_FLOPS, MOST_PERCENT, Oddities, clipped
from agents.monitor.decode.report import CoreBytes, CoreRates, Executions

# The first report covers about half a millisecond: its CPU usage is 0 or 100.
_SHORTEST_SECONDS = 0.1


def rates(
    section: schema.CoreCounters | msgspec.UnsetType | None, odd: Oddities
) -> tuple[CoreRates | None, str | None]:
    """The rates of all cores, or None and why they could not be read (None: they were not due)."""
    if section is msgspec.UNSET:
        return None, None
    if not isinstance(section, schema.CoreCounters):
        return None, "neuroncore_counters is null"
    if section.error or section.neuroncores_in_use is None:
        return None, clipped(section.error) or "neuroncore_counters lists no cores"
    return CoreRates(section.period, *_by_core(section.neuroncores_in_use, odd)), None


def _by_core(cores: Mapping[str, schema.Core | None], odd: Oddities) -> tuple[dict[int, float], dict[int, float]]:
    # A full node has a thousand cores in each report, so nothing is called for an ordinary one.
    utilization: dict[int, float] = {}
    flops: dict[int, float] = {}
    for name, core in cores.items():
        index = CORE_INDEX.get(name)
        if index is None:
            odd.note("core index", name)
        elif core is not None:
            busy, rate = core.neuroncore_utilization, core.effective_flops
            if busy is None or rate is None:
                busy, rate = _otherwise(core)
            if busy is not None and 0 <= busy <= MOST_PERCENT:
                utilization[index] = busy
            else:
                odd.number(busy, MOST_PERCENT, "core utilization")
            if rate is not None and 0 <= rate <= MOST_FLOPS:
                flops[index] = rate
            else:
                odd.number(rate, MOST_FLOPS, "FLOP/s")
    return utilization, flops


def _otherwise(core: schema.Core) -> tuple[float | None, float | None]:
    # Tools that lack one key have another.
    busy = core.neuroncore_utilization
    if busy is None and core.v3d:
        busy = _physical_mean(core.v3d)
    return busy, core.effective_flops if core.effective_flops is not None else core.flops


def _physical_mean(physical: Any) -> float | None:  # noqa: ANN401 - no capture confirms the shape
    if not isinstance(physical, dict):
        return None
    figures = [core.get("neuroncore_utilization") for core in physical.values() if isinstance(core, dict)]
    known = [
        float(figure)
        for figure in figures
        if isinstance(figure, int | float) and not isinstance(figure, bool) and 0 <= figure <= MOST_PERCENT
    ]
    return sum(known) / len(known) if known and len(known) == len(figures) else None


def cpu(system: schema.SystemData | None, odd: Oddities) -> float | None:
    """How much of their time the host's CPUs worked or waited for a disk, in percent of all of them."""
    section = system.vcpu_usage if system is not None else None
    shares = None if section is None or section.error else section.average_usage
    if section is None or shares is None or shares.user is None or shares.system is None:
        return None
    if section.period is not None and section.period < _SHORTEST_SECONDS:
        return None
    used = shares.user + (shares.nice or 0.0) + shares.system + (shares.io_wait or 0.0)
    return odd.number(used, MOST_PERCENT, "CPU usage of the host")


def memory(section: schema.MemoryUsed | None, odd: Oddities) -> CoreBytes | None:
    """Bytes by core; None as well when one core's figure cannot be, because every sum would be too small."""
    used = None if section is None or section.error else section.neuron_runtime_used_bytes
    breakdown = None if used is None else used.usage_breakdown
    cores = None if breakdown is None else breakdown.neuroncore_memory_usage
    if cores is None:
        return None
    total: dict[int, int] = {}
    holds: set[int] = set()
    for name, core in cores.items():
        index = CORE_INDEX.get(name)
        if index is None:
            odd.note("core index", name)
            return None
        if core is None:
            continue
        parts = (core.constants, core.tensors, core.model_shared_scratchpad, core.model_code, core.runtime_memory)
        sizes = [odd.number(part, plausible.MOST_BYTES, "device memory") for part in parts if part is not None]
        if None in sizes:
            return None
        total[index] = int(sum(size for size in sizes if size is not None))
        # Every capture has a little code of the runtime itself on the other core of the device (32 KB to 1.7 MB);
        # a model never runs without constants, tensors or scratch space.
        if core.constants or core.tensors or core.model_shared_scratchpad:
            holds.add(index)
    return CoreBytes(total, frozenset(holds))


def executions(
    section: schema.ExecutionStats | msgspec.UnsetType | None, odd: Oddities
) -> tuple[Executions | None, bool]:
    """What was executed, and whether it could not be read although it was due."""
    if section is msgspec.UNSET:
        return None, False
    if not isinstance(section, schema.ExecutionStats) or section.error:
        return None, True
    completed, failed = _summary(section.execution_summary, odd)
    errors = {}
    for kind in schema.ERROR_KINDS:
        count = getattr(section.error_summary, kind, None)
        if count and (kept := odd.whole(count, plausible.MOST_COUNT, f"{kind} errors")):
            errors[kind] = kept
    latency = section.latency_stats and section.latency_stats.device_latency
    p99 = odd.number(latency.p99 if latency else None, plausible.MOST_SECONDS, "latency")
    return Executions(section.period, completed, failed, errors, p99), completed is None


def _summary(summary: schema.ExecutionSummary | None, odd: Oddities) -> tuple[int | None, int | None]:
    if summary is None:
        return None, None
    failures = [
        odd.whole(getattr(summary, name), plausible.MOST_COUNT, name)
        for name in ("completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input", "failed_to_queue")
    ]
    known = [count for count in failures if count is not None]
    return odd.whole(summary.completed, plausible.MOST_COUNT, "completed executions"), sum(known) if known else None
