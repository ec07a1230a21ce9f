"""Phases that jobs announce: who has begun one and not ended it."""

import math
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.workload.statsd import PHASES, Sample
from agents.collectors.workload.work import LARGEST_JOBS, LARGEST_RANKS
from fleet import patience
from fleet.patience import Announced

__all__ = ["PHASES", "Phases", "minutes_of"]

_SECONDS: Final = 60.0
_Key = tuple[str, str, str]


def minutes_of(text: str) -> float | None:
    """The minutes that ``text`` asks for; None leaves them to the default, as does what is no number of minutes."""
    try:
        minutes = float(text)
    except ValueError:
        return None
    return minutes if math.isfinite(minutes) and minutes >= 0 else None


@dataclass(slots=True)
class _Open:
    minutes: float | None
    began: float | None = None


@dataclass(slots=True)
class Phases:
    """Who has begun a phase and not ended it, by job, phase and rank. A rank that died in one is forgotten in time."""

    _open: dict[_Key, _Open] = field(default_factory=dict)
    _seen: dict[_Key, float | None] = field(default_factory=dict)

    def add(self, sample: Sample) -> None:
        """A line that announces: a positive value begins, zero ends."""
        key = (sample.job, sample.phase, sample.rank)
        for value in sample.values:
            if value == 0:
                self._open.pop(key, None)
            elif key in self._open or len(self._open) < LARGEST_JOBS * LARGEST_RANKS:
                self._open[key] = _Open(sample.minutes)
                self._seen[key] = sample.minutes

    def in_minute(self, now: float) -> tuple[Announced, ...]:
        """The phases that were begun or open in the minute that ends at ``now``, each job's once."""
        for entry in self._open.values():
            entry.began = now if entry.began is None else entry.began
        self._open = {key: entry for key, entry in self._open.items() if _lasts(key, entry, now)}
        seen = {**self._seen, **{key: entry.minutes for key, entry in self._open.items()}}
        self._seen = {}
        asked: dict[tuple[str, str], list[float]] = {}
        for (job, phase, _), minutes in seen.items():
            asked.setdefault((job, phase), []).extend([] if minutes is None else [minutes])
        return tuple(Announced(phase, max(given, default=None), job) for (job, phase), given in asked.items())


def _lasts(key: _Key, entry: _Open, now: float) -> bool:
    began = now if entry.began is None else entry.began
    return 0 <= now - began < _SECONDS * patience.announced(Announced(key[1], entry.minutes), None)
