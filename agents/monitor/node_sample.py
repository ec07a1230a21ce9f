"""What one report says of a node, its runtimes merged (``merge``), or of some of its processes.

Cores belong to the processes that hold them. A core or a device that is shared cannot be divided from outside: its
busy time, FLOP/s and memory are said of everybody who holds a part of it.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from agents.monitor.decode.report import Executions, Runtime


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
    ``is_measured`` is whether cores were seen for long enough, or there was no runtime to see. ``is_listed`` is whether
    the report said which runtimes there are, ``executions_unread`` whether what one of them executed could not be read.
    ``holders`` are the pids by core, ``work`` is by pid, and ``problems`` are for people. ``cpu_percent`` is the
    host's, whoever uses it.
    """

    blind: str | None = None
    is_measured: bool = False
    is_listed: bool = False
    allocated: frozenset[int] | None = None
    utilization: Mapping[int, float] = field(default_factory=dict)
    flops: Mapping[int, float] = field(default_factory=dict)
    total_flops: float | None = None
    core_bytes: Mapping[int, int] | None = None
    device_bytes: Mapping[int, int] | None = None
    completed: int | None = None
    failed: int | None = None
    executions_unread: bool = False
    errors: Mapping[str, int] = field(default_factory=dict)
    latency_p99: float | None = None
    runtimes: tuple[tuple[int, str], ...] = ()
    cores_by_pid: Mapping[int, int] = field(default_factory=dict)
    holders: Mapping[int, frozenset[int]] = field(default_factory=dict)
    work: Mapping[int, ProcessWork] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    cpu_percent: float | None = None


def of_processes(sample: NodeSample, pids: AbstractSet[int], cores_per_device: int | None) -> NodeSample:
    """``sample`` as if only ``pids`` were looked at; what they have no part in is missing, and not zero."""
    held = {core for core, holders in sample.holders.items() if holders & pids}
    devices = {core // cores_per_device for core in held} if cores_per_device else set()
    work = [sample.work[pid] for pid in pids if pid in sample.work]
    bytes_ = sample.core_bytes
    flops = {core: value for core, value in sample.flops.items() if core in held}
    return replace(
        sample,
        allocated=None if sample.allocated is None else frozenset(held),
        utilization={core: value for core, value in sample.utilization.items() if core in held},
        flops=flops,
        total_flops=sum(flops.values()) if flops and len(flops) == len(held) else None,
        core_bytes=None if bytes_ is None else {core: used for core, used in bytes_.items() if core in held},
        device_bytes={device: used for device, used in (sample.device_bytes or {}).items() if device in devices},
        completed=total([each.completed for each in work]),
        failed=total([each.failed for each in work]),
        errors={},
        latency_p99=max((each.latency_p99 for each in work if each.latency_p99 is not None), default=None),
        runtimes=tuple(runtime for runtime in sample.runtimes if runtime[0] in pids),
        cores_by_pid={pid: count for pid, count in sample.cores_by_pid.items() if pid in pids},
        holders={core: holders & pids for core, holders in sample.holders.items() if holders & pids},
        work={pid: each for pid, each in sample.work.items() if pid in pids},
    )


def total(counts: list[int | None]) -> int | None:
    """Their sum: positive, it is progress even when one is missing; a zero is only known when all were measured."""
    known = [count for count in counts if count is not None]
    complete = len(known) == len(counts)
    return sum(known) if sum(known) > 0 or (known and complete) else None


def worst_latency(executions: Iterable[Executions | None]) -> float | None:
    """The highest p99 of them, in seconds; None when none was measured."""
    return max((e.latency_p99 for e in executions if e and e.latency_p99 is not None), default=None)


def work_by_pid(measured: Iterable[tuple[Runtime, Executions | None]]) -> dict[int, ProcessWork]:
    """What each process executed, over its runtimes."""
    by_pid: dict[int, list[Executions | None]] = {}
    for runtime, executions in measured:
        by_pid.setdefault(runtime.pid, []).append(executions)
    return {
        pid: ProcessWork(
            completed=total([each.completed if each else None for each in entries]),
            failed=total([each.failed if each else None for each in entries]),
            latency_p99=worst_latency(entries),
        )
        for pid, entries in by_pid.items()
    }


def errors_by_kind(executions: Iterable[Executions | None]) -> dict[str, int]:
    """Failures by the tool's kinds, added up."""
    totals: dict[str, int] = {}
    for entry in executions:
        for kind, count in entry.errors.items() if entry else ():
            totals[kind] = totals.get(kind, 0) + count
    return totals
