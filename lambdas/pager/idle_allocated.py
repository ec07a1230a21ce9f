"""Jobs that hold cores and hardly use them: their nodes and their own dollars, and nobody else's. Pure."""

from collections.abc import Mapping, Sequence

from fleet.job_progress import IDLE_PERCENT
from fleet.node_state import NodeState
from lambdas.pager.model import JobPart, NodeEvent


def of_idle_jobs(events: Sequence[NodeEvent]) -> list[NodeEvent]:
    """The events of the nodes on which a job idles by the newest of them, as that job's: its name, owner and waste.

    What other jobs are below their target is not what the page is about. Without any idle job, all events as they are.
    """
    newest: dict[str, NodeEvent] = {}
    for event in sorted(events, key=lambda each: (each.minute, each.seq)):
        newest[event.node] = event
    idle: Mapping[str, list[JobPart]] = {node: _idle(event) for node, event in newest.items()}
    found = [_of(event, idle[event.node]) for event in events if idle[event.node]]
    return found or list(events)


def _idle(event: NodeEvent) -> list[JobPart]:
    if event.state != NodeState.RUNNING:
        return []
    # Where no job is told of, the node is one.
    whole = JobPart(
        job=event.job,
        job_name=event.job_name,
        owner=event.owner,
        wasted_usd_per_hour=event.wasted_usd_per_hour,
        neuron_core_utilization=event.neuron_core_utilization,
    )
    return [part for part in event.jobs or (whole,) if _idles(part)]


def _idles(part: JobPart) -> bool:
    return part.neuron_core_utilization is not None and part.neuron_core_utilization < IDLE_PERCENT


def _of(event: NodeEvent, idle: Sequence[JobPart]) -> NodeEvent:
    names = {part.job for part in idle}
    parts = [part for part in event.jobs if part.job in names]
    if not parts:
        return event
    wasted = [part.wasted_usd_per_hour for part in parts if part.wasted_usd_per_hour is not None]
    first = parts[0]
    return event.model_copy(
        update={
            "job": first.job,
            "job_name": first.job_name,
            "owner": first.owner or event.owner,
            "neuron_core_utilization": first.neuron_core_utilization,
            "tensor_engine_utilization": None,
            "wasted_usd_per_hour": sum(wasted) if wasted else None,
        }
    )
