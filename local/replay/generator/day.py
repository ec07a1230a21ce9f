"""A day of a job that is well: how it begins, and the cycle that it repeats.

The nodes of a job go through the same, but for the odd one: it compiles for the others, which wait on spinning cores
(in a collective) or on resting ones (for the compile cache's lock).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from local.replay.generator import figures
from local.replay.generator.track import Shown, Track
from local.simulation.script import PhaseKind

FREE: Final = Shown(PhaseKind.NO_JOB)
STARTS: Final = Shown(PhaseKind.STARTUP)
COMPILES: Final = Shown(PhaseKind.COMPILING)


@dataclass(frozen=True, slots=True)
class Day:
    """``begins`` is what a start of the job is like, ``cycles`` what it does from then on, ``works`` how it runs."""

    begins: Callable[[Track], None]
    cycles: Callable[[Track], None]
    works: Shown

    def play(self, track: Track, until: int, *, again: bool = True) -> None:
        """Start the job if it begins ``again``, and let it live up to minute ``until``."""
        track.until = until
        if again:
            self.begins(track)
        while not track.is_over:
            self.cycles(track)


def works(rng: random.Random, target: float) -> Shown:
    """A job that trains as it should."""
    core = figures.CORES.draw(rng)
    return Shown(PhaseKind.RUNNING, min(core, target * figures.SPEED.draw(rng)), core)


def begins(rng: random.Random, compiles: float) -> Callable[[Track], None]:
    """A start, which compiles for the first time with a chance of ``compiles`` and finds its graphs cached later on."""
    minutes = figures.COMPILE.draw(rng) if rng.random() < compiles else 0.0
    alone = rng.random() < 0.5
    waits = Shown(PhaseKind.WAITING, core=rng.choice((0.0, 99.0)))

    def begin(track: Track) -> None:
        nonlocal minutes
        track.add(STARTS, figures.STARTUP.draw(rng))
        if minutes:
            track.add(waits if alone else COMPILES, minutes, odd=COMPILES)
        minutes = 0.0

    return begin


def says_what(rng: random.Random, what: str) -> str | None:
    """What the job announces: half of all jobs say what they do, by a marker file or StatsD."""
    return what if rng.random() < 0.5 else None
