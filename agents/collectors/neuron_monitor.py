"""What one report says about the node: runtimes merged per core, cores rolled up per device.

Every runtime lists every core, with zeros for those it does not use. So a core's utilization is the maximum over
runtimes, never the mean, and its FLOPs and bytes are sums. A core counts as allocated when a runtime keeps data on
it or was busy on it; figures exist for allocated cores only, and only when every runtime that holds the core was
measured: the zeros of the others say nothing about it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.layout import Layout
from agents.monitor.report import CoreRates, Executions, Report, Runtime

# The first report covers about half a millisecond: its rates mean nothing.
_SHORTEST_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class ProcessWork:
    """What one process executed, over all of its runtimes; seconds, and None is not measured."""

    completed: int | None
    failed: int | None
    latency_p99: float | None


@dataclass(frozen=True, slots=True)
class NodeSample:
    """One report's figures; None or a missing key is not measured. Percent, FLOP/s, bytes, counts, seconds.

    ``blind`` says why the cores could not be seen at all; ``allocated`` is None when holders are unknown.
    ``is_measured`` is whether cores were seen for long enough, or there was no runtime to see. ``holders`` are the pids
    by core, ``work`` is by pid.
    """

    blind: str | None = None
    is_measured: bool = False
    allocated: frozenset[int] | None = None
    utilization: Mapping[int, float] = field(default_factory=dict)
    flops: Mapping[int, float] = field(default_factory=dict)
    core_bytes: Mapping[int, int] | None = None
    device_bytes: Mapping[int, int] | None = None
    completed: int | None = None
    failed: int | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    latency_p99: float | None = None
    runtimes: tuple[tuple[int, str], ...] = ()
    cores_by_pid: Mapping[int, int] = field(default_factory=dict)
    holders: Mapping[int, frozenset[int]] = field(default_factory=dict)
    work: Mapping[int, ProcessWork] = field(default_factory=dict)


def sample(report: Report, layout: Layout, period: float) -> NodeSample:
    """Merge ``report``; rates of sections shorter than half of ``period`` seconds are discarded."""
    blind = _blind(report)
    if report.runtimes is None:
        return NodeSample(blind=blind)
    runtimes = tuple({runtime.identity: runtime for runtime in report.runtimes}.values())
    if blind is None and runtimes and all(runtime.rates is None for runtime in runtimes):
        blind = "no runtime's core counters could be read"
    rates = {runtime.identity: _long_enough(runtime.rates, period) for runtime in runtimes}
    holders = _holders(runtimes, rates)
    pids = {core: frozenset(pid for pid, _ in identities) for core, identities in holders.items()}
    core_bytes = _core_bytes(runtimes)
    executions = [_usable(runtime.executions, period) for runtime in runtimes]
    return NodeSample(
        blind=blind,
        is_measured=blind is None and (not runtimes or any(entry is not None for entry in rates.values())),
        allocated=frozenset(holders),
        utilization=_merge(holders, {key: entry.utilization for key, entry in rates.items() if entry}, max),
        flops=_merge(holders, {key: entry.flops for key, entry in rates.items() if entry}, sum),
        core_bytes=core_bytes,
        device_bytes=_device_bytes(core_bytes, layout),
        completed=total([entry.completed if entry else None for entry in executions]),
        failed=total([entry.failed if entry else None for entry in executions]),
        errors=_errors(entry for entry in executions if entry),
        latency_p99=max((e.latency_p99 for e in executions if e and e.latency_p99 is not None), default=None),
        runtimes=tuple(runtime.identity for runtime in runtimes),
        cores_by_pid=_cores_by_pid(pids),
        holders=pids,
        work=_work(zip(runtimes, executions, strict=True)),
    )


def _blind(report: Report) -> str | None:
    if report.hardware.error:
        return f"the Neuron driver is missing or not running: {report.hardware.error}"
    if report.hardware.devices == 0:
        return "no Neuron device is visible"
    if report.runtimes is None:
        return "the report does not say which runtimes there are"
    return None


def _long_enough(rates: CoreRates | None, period: float) -> CoreRates | None:
    if rates is None or (rates.seconds is not None and rates.seconds < _SHORTEST_SHARE * period):
        return None
    return rates


def _usable(executions: Executions | None, period: float) -> Executions | None:
    if executions is None or (executions.seconds is not None and executions.seconds < _SHORTEST_SHARE * period):
        return None
    return executions


Identity = tuple[int, str]


def _holders(runtimes: Iterable[Runtime], rates: Mapping[Identity, CoreRates | None]) -> dict[int, set[Identity]]:
    holders: dict[int, set[Identity]] = {}
    for runtime in runtimes:
        cores = set(runtime.memory.holds) if runtime.memory else set()
        measured = rates[runtime.identity]
        if measured is not None:
            cores.update(core for core, busy in measured.utilization.items() if busy > 0)
            cores.update(core for core, rate in measured.flops.items() if rate > 0)
        for core in cores:
            holders.setdefault(core, set()).add(runtime.identity)
    return holders


def _merge(
    holders: Mapping[int, set[Identity]],
    figures: Mapping[Identity, Mapping[int, float]],
    combine: Callable[[Iterable[float]], float],
) -> dict[int, float]:
    merged: dict[int, float] = {}
    for core, identities in sorted(holders.items()):
        known = [figures[identity][core] for identity in identities if core in figures.get(identity, {})]
        if len(known) == len(identities):
            merged[core] = combine(known)
    return merged


def _core_bytes(runtimes: Iterable[Runtime]) -> dict[int, int] | None:
    # One unmeasured runtime would make every sum too small, and a memory alarm blind.
    totals: dict[int, int] = {}
    for runtime in runtimes:
        if runtime.memory is None:
            return None
        for core, used in runtime.memory.total.items():
            totals[core] = totals.get(core, 0) + used
    return totals


def _device_bytes(core_bytes: Mapping[int, int] | None, layout: Layout) -> dict[int, int] | None:
    if not core_bytes or layout.cores_per_device is None:
        return None
    totals = dict.fromkeys(range(layout.devices or 0), 0)
    for core, used in core_bytes.items():
        device = core // layout.cores_per_device
        totals[device] = totals.get(device, 0) + used
    return totals


def total(counts: list[int | None]) -> int | None:
    """Their sum: positive, it is progress even when one is missing; a zero is only known when all were measured."""
    known = [count for count in counts if count is not None]
    complete = len(known) == len(counts)
    return sum(known) if sum(known) > 0 or (known and complete) else None


def _work(measured: Iterable[tuple[Runtime, Executions | None]]) -> dict[int, ProcessWork]:
    by_pid: dict[int, list[Executions | None]] = {}
    for runtime, executions in measured:
        by_pid.setdefault(runtime.pid, []).append(executions)
    return {
        pid: ProcessWork(
            completed=total([each.completed if each else None for each in entries]),
            failed=total([each.failed if each else None for each in entries]),
            latency_p99=max((e.latency_p99 for e in entries if e and e.latency_p99 is not None), default=None),
        )
        for pid, entries in by_pid.items()
    }


def _errors(executions: Iterable[Executions]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for entry in executions:
        for kind, count in entry.errors.items():
            totals[kind] = totals.get(kind, 0) + count
    return totals


def _cores_by_pid(holders: Mapping[int, frozenset[int]]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for pids in holders.values():
        for pid in pids:
            counts[pid] = counts.get(pid, 0) + 1
    return counts
