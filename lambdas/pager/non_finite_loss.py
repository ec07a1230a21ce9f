"""Work that trains nothing: from its first loss that is no number on, all that a job costs is lost. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from lambdas.pager.model import NodeEvent

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
