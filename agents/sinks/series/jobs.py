"""Families of each job's part of the node: what it publishes, and what the node makes of it.

Every point says whose the job is, so that whoever is told of it knows whom to ask.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agents.minute.batch import Datum
from agents.sinks.series import names
from agents.sinks.series.datums import values
from agents.sinks.series.family import Family, Point, Shape, distinct, point
from agents.sinks.series.names import PREFIX, SeriesName
from fleet.metrics import NEURON_CORE_UTILIZATION, TENSOR_ENGINE_UTILIZATION, MetricSpec
from fleet.node_state import NodeState

LABELS: Final = ("job", "owner")
# Datums are in whole percents, which CloudWatch needs and nobody else.
_EXACT: Final[Mapping[MetricSpec, str]] = {
    TENSOR_ENGINE_UTILIZATION: "tensor_engine_utilization",
    NEURON_CORE_UTILIZATION: "neuron_core_utilization",
}
_Job = Mapping[str, Any]


def published_families(datums: Iterable[Datum], event: Mapping[str, Any]) -> Iterator[Family]:
    """What each job publishes to CloudWatch, too."""
    entries = {entry.get("job"): entry for entry in event.get("jobs") or ()}
    by_name: dict[str, tuple[SeriesName, list[Point | None]]] = {}
    for spec, value, job in values(datums):
        series = names.of_job(spec) if job is not None else None
        if series is not None and job is not None:
            _, points = by_name.setdefault(series.name, (series, []))
            entry = entries.get(job, {})
            exact = entry.get(_EXACT.get(spec, ""), value)
            points.append(point(exact, job, _owner(entry, event), scale=series.scale))
    for series, points in by_name.values():
        yield Family(series.name, series.shape, series.help, LABELS, distinct(points, series.shape))


def judged_families(event: Mapping[str, Any]) -> Iterator[Family]:
    """What the node makes of each job; of a job that should be running how much it gets done."""
    jobs = [entry for entry in event.get("jobs") or () if entry.get("job")]
    for name, text in (
        ("idle", "1 while the job holds cores and rests"),
        ("waiting", "1 while it has executed nothing, past its start-up grace"),
        ("hung", "1 while it executes nothing on cores that look busy"),
    ):
        yield _family(name, f"{text} (of the job, on this node)", _flags(jobs, name, event))
    text = "1 while the job starts again and again and completes nothing (of the job, on this node)"
    loops = [Point((str(each["job"]), _owner(each, event)), float("vain_runs" in each)) for each in jobs]
    yield _family("crash_looping", text, loops)
    running = jobs if event.get("state") == NodeState.RUNNING else []
    executing = [entry for entry in running if entry.get("executions_completed")]
    for name, text, of, key in (
        ("running_core", "busy time per core of the job", running, "neuron_core_utilization"),
        ("slowest_core", "busy time of the job's least busy core", running, "slowest_core_utilization"),
        ("running_tensor_engine", "tensor engine use, where the job executes", executing, "tensor_engine_utilization"),
    ):
        points = [point(entry.get(key), str(entry["job"]), _owner(entry, event), scale=0.01) for entry in of]
        yield _family(f"{name}_utilization_ratio", f"{text}, on this node, in minutes in which it should work", points)


def _family(name: str, text: str, points: Iterable[Point | None]) -> Family:
    return Family(f"{PREFIX}_job_{name}", Shape.GAUGE, text, LABELS, distinct(points, Shape.GAUGE))


def _flags(jobs: Iterable[_Job], key: str, event: Mapping[str, Any]) -> list[Point | None]:
    return [Point((str(entry["job"]), _owner(entry, event)), float(entry.get(key) is True)) for entry in jobs]


def _owner(entry: _Job, event: Mapping[str, Any]) -> str:
    return str(entry.get("owner") or event.get("owner") or "")
