"""What a collector said, made fit to be published: nothing that is no number, no JSON, or too much.

Collectors read what drivers, schedulers and workloads write. Whatever is wrong with one figure costs that figure, and
is said; nothing is put in its place. CloudWatch's limits: PutMetricData takes no NaN or infinity and no value beyond
2^360; a log event has one megabyte for everything.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from agents.collectors.collector import Contribution, add
from agents.collectors.jobs.job import dimension_value
from fleet.metrics import Kind, MetricSpec

# Bytes of JSON that all collectors together may add to a log event: what the node itself says must fit beside it.
LARGEST_EVENT: Final = 200_000
_LARGEST_VALUE: Final = 2.0**360
_LONGEST_PROBLEM: Final = 500
_PROBLEMS_SHOWN: Final = 30
_ERRORS_SHOWN: Final = 256
_JOBS_SHOWN: Final = 64
# Distributions, statistics and states have shapes of their own and one source, which is no collector.
_KINDS: Final = frozenset({Kind.GAUGE, Kind.PER_MINUTE})


def vetted(name: str, said: Contribution) -> Contribution:
    """``said`` by the collector ``name``, without what cannot be published; each omission is a problem."""
    problems: list[str] = []
    event = dict(_properties(said.event, problems))
    metrics = _figures(said.metrics, problems, of_job=False)
    by_job: dict[str, dict[MetricSpec, float]] = {}
    for job_id, figures in list(said.job_metrics.items())[:_JOBS_SHOWN]:
        # Two spellings may be one dimension value.
        of_job = by_job.setdefault(dimension_value(job_id) if job_id else "", {})
        add(of_job, _figures(figures, problems, of_job=True))
    if len(said.job_metrics) > _JOBS_SHOWN:
        problems.append(f"figures of {len(said.job_metrics)} jobs; only the first {_JOBS_SHOWN} are taken")
    if len(said.hardware_errors) > _ERRORS_SHOWN:
        problems.append(f"{len(said.hardware_errors)} hardware errors; only the first {_ERRORS_SHOWN} are taken")
    return replace(
        said,
        metrics=metrics,
        job_metrics={job_id: figures for job_id, figures in by_job.items() if figures},
        event=event,
        hardware_errors=said.hardware_errors[:_ERRORS_SHOWN],
        draining=None if said.draining is None else said.draining[:_LONGEST_PROBLEM],
        problems=tuple(_short([*said.problems, *(f"{name}: {problem}" for problem in problems)])),
    )


def bounded(said: Contribution) -> Contribution:
    """All collectors' ``said`` with the largest properties cut until the rest fits into a log event."""
    sizes = {name: _size(name, value) for name, value in said.event.items()}
    cut: list[str] = []
    while sum(sizes.values()) > LARGEST_EVENT:
        largest = max(sizes, key=lambda name: (sizes[name], name))
        cut.append(f"{largest} ({sizes.pop(largest)} bytes)")
    if not cut:
        return said
    problem = f"left out of the log event, which has {LARGEST_EVENT} bytes for collectors: {', '.join(cut)}"
    kept = {name: value for name, value in said.event.items() if name in sizes}
    return replace(said, event=kept, problems=(*said.problems, problem[:_LONGEST_PROBLEM]))


def _properties(event: Mapping[str, Any], problems: list[str]) -> Iterable[tuple[str, Any]]:
    for name, value in event.items():
        try:
            data = msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.EncodeError) as error:
            problems.append(f"{name} is no JSON: {error}")
            continue
        if len(data) > LARGEST_EVENT:
            problems.append(f"{name} has {len(data)} bytes and is left out of the log event")
            continue
        # What was encoded and read again holds no NaN and nobody else's objects.
        yield str(name), msgspec.json.decode(data)


def _figures(figures: Mapping[MetricSpec, float], problems: list[str], *, of_job: bool) -> dict[MetricSpec, float]:
    kept = {}
    for spec, value in figures.items():
        # What both sets have comes from neuron-monitor, and a series has one datum in a minute.
        if spec.kind not in _KINDS or not (spec.from_workload if of_job else not spec.per_job):
            problems.append(f"{spec.name} is not for a collector to say{' of a job' if of_job else ''}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            problems.append(f"{spec.name} is no number")
        elif not math.isfinite(value) or abs(value) > _LARGEST_VALUE:
            problems.append(f"{spec.name} is {value}")
        elif spec.kind is Kind.PER_MINUTE and value < 0:
            problems.append(f"{spec.name} counts {value}")
        else:
            kept[spec] = value
    return kept


def _short(problems: list[str]) -> Iterable[str]:
    yield from (problem[:_LONGEST_PROBLEM] for problem in problems[:_PROBLEMS_SHOWN])
    if len(problems) > _PROBLEMS_SHOWN:
        yield f"{len(problems) - _PROBLEMS_SHOWN} more problems"


def _size(name: str, value: object) -> int:
    # With its quotes, its colon and its comma.
    return len(name.encode()) + len(msgspec.json.encode(value)) + 4
