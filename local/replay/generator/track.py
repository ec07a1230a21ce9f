"""A job's life while it is being written: phases one after the other, the same on all nodes but one."""

from dataclasses import dataclass, field
from typing import Any, Final

from local.replay.scenario import JobPhase
from local.simulation.script import PhaseKind

SILENT: Final = frozenset({PhaseKind.HOST_WORK, PhaseKind.FETCHING, PhaseKind.IDLE})
"""Pauses of a job that is well: it holds its cores, and nothing is executed."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a node shows for some minutes."""

    kind: PhaseKind
    tensor: float = 0.0
    core: float = 0.0
    announces: str | None = None
    counts: tuple[tuple[str, float], ...] = ()

    def from_minute(self, at: int) -> JobPhase:
        """The phase that begins at minute ``at``."""
        return JobPhase(
            at=at,
            kind=self.kind,
            tensor_engine_percent=round(self.tensor, 1),
            core_percent=round(self.core, 1),
            announces=self.announces,
            counts=dict(self.counts),
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Minutes from ``at`` up to ``until`` that all nodes show ``shown``."""

    at: int
    until: int
    shown: Shown


@dataclass(slots=True)
class Track:
    """Phases up to minute ``until``, which may be moved on. ``odd`` shows something else where that is said."""

    until: int
    now: int = 0
    stretches: list[Stretch] = field(default_factory=list)
    _odd: list[Stretch] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether nothing more fits."""
        return self.now >= self.until

    def add(self, shown: Shown, minutes: float, odd: Shown | None = None) -> None:
        """``minutes`` of ``shown``, at least one, cut off at the end; of ``odd`` on the odd node."""
        end = min(self.until, self.now + max(1, round(minutes)))
        if end > self.now:
            self.stretches.append(Stretch(self.now, end, shown))
            self._odd.append(Stretch(self.now, end, odd or shown))
            self.now = end

    def as_file(self, odd_node: int) -> dict[str, Any]:
        """``phases``, and the ``exceptions`` of the odd node if it has any."""
        phases, odd = _phases(self.stretches), _phases(self._odd)
        return {"phases": phases, "exceptions": {} if odd == phases else {odd_node: odd}}


def _phases(stretches: list[Stretch]) -> tuple[JobPhase, ...]:
    found: list[JobPhase] = []
    last: Shown | None = None
    for each in stretches:
        if each.shown != last:
            found.append(each.shown.from_minute(each.at))
        last = each.shown
    return tuple(found)
