"""What somebody was told: a page or a ticket for each incident, as the pager groups contributors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from fleet.alarms import Severity
from local.alarm_evaluation.promql import Labels
from local.replay.evaluator import Change
from local.replay.store import MINUTE

# The pager's: what begins within it on nodes of one job is one incident.
TOGETHER_MINUTES: Final = 5
_JOB: Final = "job"


@dataclass(frozen=True, slots=True)
class Told:
    """A page or a ticket. ``minute`` is when it was sent and ``resolved`` when it ended, from the scenario's start.

    ``contributors`` are the labels of whom an alarm that follows jobs and nodes tells of; none: it has one state.
    """

    fleet: str
    alarm: str
    severity: Severity
    minute: float
    resolved: float | None = None
    contributors: tuple[Labels, ...] = ()


def told_of(changes: Sequence[Change], start: float) -> tuple[Told, ...]:
    """The pages and tickets of ``changes``, in whose order they were sent; minutes count from unix second ``start``."""
    told: list[Told] = []
    open_: dict[tuple[str, str | None], int] = {}
    for index, change in enumerate(changes):
        if not change.in_alarm or not _is_of_its_fleet(change):
            continue
        one = _one(changes, index, start)
        group = (change.spec.name, dict(change.contributor).get(_JOB))
        known = open_.get(group)
        if change.contributor and known is not None and one.minute - told[known].minute < TOGETHER_MINUTES:
            told[known] = _together(told[known], one)
        else:
            open_[group] = len(told)
            told.append(one)
    return tuple(told)


def _is_of_its_fleet(change: Change) -> bool:
    # A rule that names no fleet returns the series of all of them, and is evaluated once for each.
    fleet = change.spec.subject
    return dict(change.contributor).get("fleet", fleet) == fleet


def _one(changes: Sequence[Change], index: int, start: float) -> Told:
    change = changes[index]
    ends = (
        each.at
        for each in changes[index + 1 :]
        if not each.in_alarm and (each.spec.name, each.contributor) == (change.spec.name, change.contributor)
    )
    end = next(ends, None)
    return Told(
        change.spec.subject,
        change.spec.key,
        change.spec.severity,
        (change.at - start) / MINUTE,
        None if end is None else (end - start) / MINUTE,
        (change.contributor,) if change.contributor else (),
    )


def _together(first: Told, other: Told) -> Told:
    over = first.resolved is not None and other.resolved is not None
    resolved = max(first.resolved or 0.0, other.resolved or 0.0) if over else None
    everybody = dict.fromkeys((*first.contributors, *other.contributors))
    return replace(first, resolved=resolved, contributors=tuple(everybody))
