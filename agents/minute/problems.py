"""What was wrong in a minute, in words for people: it ends up in the node's log event."""

from collections.abc import Iterator
from typing import Final

from agents.collectors.collector import Contribution
from agents.minute.batch import Node
from agents.minute.report_freshness import ReportFreshness
from agents.minute.window import Figures

_PIDS_SHOWN: Final = 8


def problems(
    figures: Figures, collected: Contribution, monitor: str | None, freshness: ReportFreshness, node: Node
) -> Iterator[str]:
    """One line for each. ``monitor`` is why there is none."""
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
