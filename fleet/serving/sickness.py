"""When a runtime is sick, and what follows: its process is restarted once, then its host is given up.

What a restart cannot mend is no sickness: a task with the wrong artifact is alive and not ready, for ever.
"""

from dataclasses import dataclass, replace

from fleet.string_enum import StringEnum


class Step(StringEnum):
    """What a task does about a runtime that is sick."""

    RESTART = "restart"
    HAND_OVER = "hand over"


@dataclass(frozen=True, slots=True)
class Limits:
    """``loading_seconds`` until the first answer; ``failures`` in a row after it; ``well_seconds`` until a restart is
    forgotten, which makes the next sickness a new one.
    """

    loading_seconds: float = 2400.0
    failures: int = 3
    well_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Course:
    """Of one process. ``began`` and ``well_since`` are moments of one monotonic clock, in seconds."""

    began: float
    has_answered: bool = False
    failures: int = 0
    well_since: float | None = None
    reason: str = ""


def after(course: Course, reason: str, now: float) -> Course:
    """The course after a probe; ``reason`` is empty when the runtime answered."""
    if not reason:
        return replace(
            course,
            has_answered=True,
            failures=0,
            reason="",
            well_since=now if course.well_since is None else course.well_since,
        )
    return replace(course, failures=course.failures + 1, reason=reason, well_since=None)


def sickness(course: Course, limits: Limits, now: float) -> str:
    """Why the runtime is sick, in one line; empty: it is not, or it is still loading."""
    if not course.has_answered:
        waited = now - course.began
        if waited < limits.loading_seconds:
            return ""
        return f"no answer in {waited:.0f} s of loading: {course.reason or 'it said nothing'}"
    if course.failures < limits.failures:
        return ""
    return f"{course.failures} probes in a row failed: {course.reason}"


def is_recovered(course: Course, limits: Limits, now: float) -> bool:
    """Whether it has been well for so long that an earlier restart no longer counts."""
    return course.well_since is not None and now - course.well_since >= limits.well_seconds


def step(restarts: int) -> Step:
    """What a sick one does after so many restarts on this host that still count."""
    return Step.RESTART if restarts == 0 else Step.HAND_OVER
