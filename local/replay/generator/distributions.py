"""Distributions that a scenario's figures are drawn from. Every one has an end on both sides and says why it is so."""

import random
from dataclasses import dataclass
from typing import Final, Protocol

# A figure outside of its bounds is drawn again; after so many the nearest bound is taken.
_DRAWS: Final = 64


class Distribution(Protocol):
    """Anything that a figure is drawn from."""

    @property
    def low(self) -> float:
        """No figure is smaller."""

    @property
    def high(self) -> float:
        """No figure is larger."""

    def draw(self, rng: random.Random) -> float:
        """One figure."""

    def __str__(self) -> str:
        """As a document states it."""


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Durations of work: many short ones and a long tail, cut at both ends. ``sigma`` is of the logarithm."""

    median: float
    sigma: float
    low: float
    high: float

    def draw(self, rng: random.Random) -> float:
        """One figure."""
        found = self.median
        for _ in range(_DRAWS):
            found = self.median * rng.lognormvariate(0.0, self.sigma)
            if self.low <= found <= self.high:
                return found
        return min(self.high, max(self.low, found))

    def __str__(self) -> str:
        return f"log-normal, median {self.median:g}, sigma {self.sigma:g}, {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Uniform:
    """Figures of which none is more likely than another."""

    low: float
    high: float

    def draw(self, rng: random.Random) -> float:
        """One figure."""
        return rng.uniform(self.low, self.high)

    def __str__(self) -> str:
        return f"uniform, {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A named distribution, and why it is this one."""

    name: str
    of: Distribution
    why: str

    def draw(self, rng: random.Random) -> float:
        """One figure."""
        return self.of.draw(rng)

    def whole(self, rng: random.Random) -> int:
        """One figure without a fraction: minutes, nodes."""
        return round(self.of.draw(rng))
