"""What runtimes executed: counts, failures and latency, put together without taking the unmeasured for zero."""

from collections.abc import Iterable
from dataclasses import dataclass

from agents.monitor.decode.report import Executions, Runtime


@dataclass(frozen=True, slots=True)
class ProcessWork:
    """What one process executed, over all of its runtimes; seconds, and None is not measured."""

    completed: int | None
    failed: int | None
    latency_p99: float | None


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
