"""The node events that an alarm about jobs is about: those of its jobs, with their own dollars. Pure.

Lost jobs train nothing: from its first loss that is no number on, all that a job costs is lost. Idle jobs hold cores
and hardly use them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from fleet.idleness import IDLE_PERCENT
from fleet.node_state import NodeState
from lambdas.pager.log_events import JobPart, NodeEvent

# Of a node that more jobs share, only what the first of them say is asked for.
_JOBS_ASKED: Final = 4
_REPORTS: Final = 500


def reports_query(fleet: str) -> str:
    """The first events of a fleet in which a job says such a loss."""
    said = " or ".join(f"jobs.{index}.non_finite_losses > 0" for index in range(_JOBS_ASKED))
    return (
        f'fields @timestamp, @message | filter fleet = "{fleet}" and ({said}) | sort @timestamp asc | limit {_REPORTS}'
    )


def of_lost_jobs(events: Sequence[NodeEvent], reports: Sequence[NodeEvent] = ()) -> list[NodeEvent]:
    """The events of the nodes of jobs that reported such a loss, their dollars as what is lost.

    One node of a job reports for all of them. Without any report, all events as they are. ``reports`` tell of the
    losses where ``events`` are only the first and the last of each of a node's states, and hold no jobs' parts.
    """
    began = _first_reports([*events, *reports])
    found = [event for event in events if began.keys() & _jobs(event)]
    beginnings = _beginnings(found, began) if reports else []
    return [_counted(event, began) for event in (*found, *beginnings)] or list(events)


def _beginnings(events: Sequence[NodeEvent], began: Mapping[str, datetime]) -> list[NodeEvent]:
    """Each node in the minute in which its job was lost, which lies between two of ``events``."""
    newest: dict[str, NodeEvent] = {}
    for event in sorted(events, key=lambda each: each.minute):
        newest[event.node] = event
    moments = [(event, min(began[job] for job in _jobs(event) & began.keys())) for event in newest.values()]
    return [event.model_copy(update={"minute": lost}) for event, lost in moments if lost < event.minute]


def _first_reports(events: Iterable[NodeEvent]) -> Mapping[str, datetime]:
    began: dict[str, datetime] = {}
    for event in events:
        for job in event.jobs:
            if job.job and job.non_finite_losses:
                began[job.job] = min(event.minute, began.get(job.job, event.minute))
    return began


def _jobs(event: NodeEvent) -> set[str]:
    return {job.job for job in event.jobs if job.job} or ({event.job} if event.job else set())


def _counted(event: NodeEvent, began: Mapping[str, datetime]) -> NodeEvent:
    lost = {job for job in _jobs(event) if job in began and event.minute >= began[job]}
    if not lost:
        return event
    by_job = {job.job: (job.cost_usd_per_hour if job.job in lost else job.wasted_usd_per_hour) for job in event.jobs}
    known = [usd for usd in by_job.values() if usd is not None]
    return event.model_copy(update={"wasted_usd_per_hour": sum(known) if known else event.cost_usd_per_hour})


def of_crash_loops(events: Sequence[NodeEvent]) -> list[NodeEvent]:
    """The events of the nodes on which a job starts in vain, as that job's, gaps between its runs included.

    What it costs while it starts and in those gaps is lost. Without any such job, all events as they are.
    """
    loops: dict[str, tuple[NodeEvent, JobPart]] = {}
    for event in sorted(events, key=lambda each: (each.minute, each.seq)):
        for part in event.jobs:
            if part.vain_runs:
                loops[event.node] = event, part
    found = [_started_in_vain(event, *loops[event.node]) for event in events if event.node in loops]
    return found or list(events)


def _started_in_vain(event: NodeEvent, told: NodeEvent, part: JobPart) -> NodeEvent:
    if event.job not in {None, part.job}:
        return event
    known = {"job": part.job, "job_name": part.job_name, "owner": part.owner or told.owner}
    is_lost = event.state in {NodeState.STARTUP, NodeState.WAITING, NodeState.NO_JOB}
    return event.model_copy(update={**known, **({"wasted_usd_per_hour": part.cost_usd_per_hour} if is_lost else {})})


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
    if event.state not in {NodeState.RUNNING, NodeState.WAITING}:
        return []
    # Where no job is told of, the node is one.
    whole = JobPart(
        job=event.job,
        job_name=event.job_name,
        owner=event.owner,
        wasted_usd_per_hour=event.wasted_usd_per_hour,
        neuron_core_utilization=event.neuron_core_utilization,
    )
    return [part for part in event.jobs or (whole,) if event.state == NodeState.WAITING or _idles(part)]


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
