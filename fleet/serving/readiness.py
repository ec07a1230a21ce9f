"""May an endpoint's task be given requests, and if not, why; and when is its runtime sick.

One finding for each thing that must hold. What was not found out yet does not hold: a task that says nothing of its
cores is not ready. Where a runtime is sick its process is restarted once, then its host is given up. What a restart
cannot mend is no sickness: a task with the wrong artifact is alive and not ready, for ever.
"""

from dataclasses import dataclass, replace

from fleet.string_enum import StringEnum

_SHOWN = 5


class Check(StringEnum):
    """What must hold."""

    RUNTIME = "runtime"
    CORES = "cores"
    BUCKETS = "buckets"
    ARTIFACT = "artifact"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the task was deployed to be. ``artifact`` is the prefix of its compiled graphs, empty where none is named.

    ``cores`` are the NeuronCores of its devices, physical ones; ``shapes`` (sequence length, batch size).
    """

    cores: int
    shapes: frozenset[tuple[int, int]]
    artifact: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is so. Of ``runtime`` and ``artifact`` a text says what is wrong, an empty one that nothing is.

    None: not found out yet. ``ran`` are the shapes that were executed once; ``handed_over`` says why the host was
    given up, empty while it was not.
    """

    runtime: str | None = None
    cores: int | None = None
    ran: frozenset[tuple[int, int]] = frozenset()
    artifact: str | None = None
    handed_over: str = ""
    leaves: bool = False
    """Whether it was told to end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check; ``detail`` says what is so, in words."""

    check: Check
    holds: bool
    detail: str


def findings(expected: Expected, seen: Seen) -> tuple[Finding, ...]:
    """All checks, in the order in which a task comes up."""
    return (
        _host(seen),
        _artifact(expected, seen),
        _runtime(seen),
        _cores(expected, seen),
        _buckets(expected, seen),
    )


def is_ready(found: tuple[Finding, ...]) -> bool:
    """Whether all hold."""
    return all(finding.holds for finding in found)


def _host(seen: Seen) -> Finding:
    if seen.leaves:
        return Finding(Check.HOST, False, "left: this process was told to end")
    said = f"given up: {seen.handed_over}" if seen.handed_over else "in use"
    return Finding(Check.HOST, not seen.handed_over, said)


def _artifact(expected: Expected, seen: Seen) -> Finding:
    if not expected.artifact:
        return Finding(Check.ARTIFACT, True, "none is declared")
    if seen.artifact is None:
        return Finding(Check.ARTIFACT, False, f"{expected.artifact}: not compared with its manifest yet")
    return Finding(Check.ARTIFACT, not seen.artifact, seen.artifact or f"{expected.artifact}: as its manifest says")


def _runtime(seen: Seen) -> Finding:
    if seen.runtime is None:
        return Finding(Check.RUNTIME, False, "has not answered yet")
    return Finding(Check.RUNTIME, not seen.runtime, seen.runtime or "answers")


def _cores(expected: Expected, seen: Seen) -> Finding:
    if seen.cores is None:
        return Finding(Check.CORES, False, "not counted yet")
    return Finding(Check.CORES, seen.cores >= expected.cores, f"{seen.cores} of {expected.cores} are held")


def _buckets(expected: Expected, seen: Seen) -> Finding:
    missing = sorted(expected.shapes - seen.ran)
    if not missing:
        return Finding(Check.BUCKETS, True, f"all {len(expected.shapes)} have run")
    named = ", ".join(f"{length} x {batch}" for length, batch in missing[:_SHOWN])
    more = ", …" if len(missing) > _SHOWN else ""
    return Finding(Check.BUCKETS, False, f"{len(missing)} of {len(expected.shapes)} have not run: {named}{more}")


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
