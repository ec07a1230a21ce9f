"""Which complete checkpoints are kept, and how long what may be in use is left alone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from fleet.checkpoints.layout import Attempt

# A reader that has chosen a checkpoint needs less than this to write down that it has.
SHORTEST_GRACE_SECONDS: Final = 600.0
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Retention:
    """The newest ``last`` are kept, and every one whose step is a multiple of ``every_steps``; times in seconds."""

    last: int = 3
    every_steps: int | None = None
    grace_seconds: float = _HOUR
    """From when a checkpoint cannot be chosen any more until its files are deleted."""
    reading_seconds: float = 24 * _HOUR
    """How long what a run resumes from is kept for it: longer than any restore takes."""
    abandoned_seconds: float = 24 * _HOUR
    """A save to which nothing was added for this long is given up: longer than the upload of one file takes."""

    def __post_init__(self) -> None:
        """Refuse what would delete everything, or what is in use."""
        if self.last < 1:
            raise ValueError(f"last is {self.last}: keep 1 checkpoint or more")
        if self.every_steps is not None and self.every_steps < 1:
            raise ValueError(f"every_steps is {self.every_steps}: use 1 or more")
        if self.grace_seconds < SHORTEST_GRACE_SECONDS:
            raise ValueError(f"grace_seconds is {self.grace_seconds:g}: use {SHORTEST_GRACE_SECONDS:g} or more")
        for name, value in (("reading", self.reading_seconds), ("abandoned", self.abandoned_seconds)):
            if value < _HOUR:
                raise ValueError(f"{name}_seconds is {value:g}: use {_HOUR:g} or more")


def kept(attempts: Iterable[Attempt], retention: Retention) -> frozenset[Attempt]:
    """Those of the complete ``attempts`` that are kept. Two runs may have saved one step: both count as that step."""
    complete = sorted(set(attempts), reverse=True)
    every = retention.every_steps
    newest: Collection[int] = sorted({attempt.step for attempt in complete}, reverse=True)[: retention.last]
    return frozenset(
        attempt for attempt in complete if attempt.step in newest or (every is not None and attempt.step % every == 0)
    )
