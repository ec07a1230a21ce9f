"""What one report says about the node: runtimes merged per core, cores rolled up per device.

Every runtime lists every core, with zeros for those it does not use. So a core's utilization is the maximum over
runtimes, never the mean, and its FLOPs and bytes are sums. A core counts as allocated when a runtime keeps data on
it or was busy on it; figures exist for allocated cores only, and only when every runtime that holds the core was
measured: the zeros of the others say nothing about it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from agents.monitor.decode.report import CoreRates, Executions, Report, Runtime
from agents.monitor.layout import Layout
from agents.monitor.node_sample import NodeSample, errors_by_kind, total, work_by_pid, worst_latency

# The first report covers about half a millisecond: its rates mean nothing.
_SHORTEST_SHARE: Final = 0.5
_Section = TypeVar("_Section", CoreRates, Executions)


def merge(report: Report, layout: Layout, period: float) -> NodeSample:
    """Merge ``report``; rates of sections shorter than half of ``period`` seconds are discarded."""
    blind = _blind(report)
    if report.runtimes is None:
        return NodeSample(blind=blind, problems=report.oddities, cpu_percent=report.cpu_percent)
    runtimes = _distinct(report.runtimes)
    rates = [_long_enough(runtime.rates, period) for runtime in runtimes]
    all_holders = _holders(runtimes, rates)
    holders = {core: those for core, those in all_holders.items() if layout.cores is None or core < layout.cores}
    pids = {core: frozenset(runtimes[position].pid for position in those) for core, those in holders.items()}
    core_bytes = _core_bytes(runtimes, layout)
    executions = [_long_enough(runtime.executions, period) for runtime in runtimes]
    flops = _by_core(holders, [entry.flops if entry else None for entry in rates], sum)
    return NodeSample(
        blind=blind,
        is_measured=blind is None and (not runtimes or any(entry is not None for entry in rates)),
        is_listed=True,
        # A runtime whose memory was not read may hold cores that nobody knows of.
        allocated=None if any(runtime.memory is None for runtime in runtimes) else frozenset(holders),
        utilization=_by_core(holders, [entry.utilization if entry else None for entry in rates], max),
        flops=flops,
        # Without one of its runtimes, or one of its cores, the node's sum would be too small.
        total_flops=sum(flops.values()) if flops and len(flops) == len(all_holders) and all(rates) else None,
        core_bytes=core_bytes,
        device_bytes=_device_bytes(core_bytes, layout),
        completed=total([entry.completed if entry else None for entry in executions]),
        failed=total([entry.failed if entry else None for entry in executions]),
        executions_unread=any(runtime.executions_unread for runtime in runtimes),
        errors=errors_by_kind(executions),
        latency_p99=worst_latency(executions),
        runtimes=tuple(runtime.identity for runtime in runtimes),
        cores_by_pid=_cores_by_pid(pids),
        holders=pids,
        work=work_by_pid(zip(runtimes, executions, strict=True)),
        problems=(*report.oddities, *_problems(runtimes, len(all_holders) - len(holders), layout)),
        cpu_percent=report.cpu_percent,
    )


def _distinct(runtimes: Iterable[Runtime]) -> tuple[Runtime, ...]:
    # Listed twice it is one process. Where the tool gives no pid the tag alone would make one of all containers.
    return tuple(
        {runtime.identity if runtime.pid else index: runtime for index, runtime in enumerate(runtimes)}.values()
    )


def _blind(report: Report) -> str | None:
    if report.hardware.error:
        return f"the Neuron driver is missing or not running: {report.hardware.error}"
    if report.hardware.devices == 0:
        return "no Neuron device is visible"
    if report.runtimes is None:
        return "the report does not say which runtimes there are"
    unread = [runtime.unread for runtime in report.runtimes if runtime.unread is not None]
    if unread and len(unread) == len(report.runtimes):
        return f"no runtime's core counters could be read: {unread[0]}"
    return None


def _problems(runtimes: Sequence[Runtime], beyond: int, layout: Layout) -> Iterable[str]:
    unread = [runtime.unread for runtime in runtimes if runtime.unread is not None]
    if unread and len(unread) < len(runtimes):
        yield f"core counters of {len(unread)} of {len(runtimes)} runtimes could not be read: {unread[0]}"
    if beyond:
        yield f"{beyond} cores in use beyond the node's {layout.cores}: is lnc set as the runtimes group cores?"


def _long_enough(section: _Section | None, period: float) -> _Section | None:
    if section is None or (section.seconds is not None and section.seconds < _SHORTEST_SHARE * period):
        return None
    return section


def _holders(runtimes: Sequence[Runtime], rates: Sequence[CoreRates | None]) -> dict[int, set[int]]:
    # By core, the positions of the runtimes that hold it.
    holders: dict[int, set[int]] = {}
    for position, (runtime, measured) in enumerate(zip(runtimes, rates, strict=True)):
        cores = set(runtime.memory.holds) if runtime.memory else set()
        if measured is not None:
            cores.update(core for core, busy in measured.utilization.items() if busy > 0)
            cores.update(core for core, rate in measured.flops.items() if rate > 0)
        for core in cores:
            holders.setdefault(core, set()).add(position)
    return holders


def _by_core(
    holders: Mapping[int, set[int]],
    figures: Sequence[Mapping[int, float] | None],
    combine: Callable[[Iterable[float]], float],
) -> dict[int, float]:
    merged: dict[int, float] = {}
    for core, positions in sorted(holders.items()):
        known = [figure[core] for position in positions if (figure := figures[position]) and core in figure]
        if len(known) == len(positions):
            merged[core] = combine(known)
    return merged


def _core_bytes(runtimes: Iterable[Runtime], layout: Layout) -> dict[int, int] | None:
    # One unmeasured runtime would make every sum too small, and a memory alarm blind.
    totals: dict[int, int] = {}
    for runtime in runtimes:
        if runtime.memory is None:
            return None
        for core, used in runtime.memory.total.items():
            if layout.cores is None or core < layout.cores:
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


def _cores_by_pid(holders: Mapping[int, frozenset[int]]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for pids in holders.values():
        for pid in pids:
            counts[pid] = counts.get(pid, 0) + 1
    return counts
