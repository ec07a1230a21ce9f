"""When a migration has paid for itself, and how that moves with what was only estimated."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from planning.money import PlanError, positive

# What estimates are wrong by: migrations run late more often than early, savings fall short more often than not.
COST_FACTORS: Final = (0.5, 1.0, 1.5, 2.0, 3.0)
SAVING_FACTORS: Final = (0.25, 0.5, 0.75, 1.0, 1.25)


@dataclass(frozen=True, slots=True)
class Migration:
    """``usd`` once; then every run costs ``after_usd`` instead of ``before_usd``, ``runs_per_month`` times a month.

    A run is any unit of use: a training run, a million requests, a month of serving.
    """

    usd: float
    before_usd: float
    after_usd: float
    runs_per_month: float

    def __post_init__(self) -> None:
        """Refuse numbers out of range.

        Raises:
            PlanError: A number is not above zero.
        """
        positive("migration cost", self.usd)
        positive("cost before", self.before_usd)
        positive("cost after", self.after_usd)
        positive("use per month", self.runs_per_month)

    @property
    def saving_usd(self) -> float:
        """Per run; below zero where the new way is dearer."""
        return self.before_usd - self.after_usd


@dataclass(frozen=True, slots=True)
class Point:
    """One row of the sensitivity table, or the answer itself (both factors 1)."""

    cost_factor: float
    saving_factor: float
    runs: int
    """Whole runs until the migration is paid for."""
    exact_runs: float
    months: float


@dataclass(frozen=True, slots=True)
class Breakeven:
    """The answer, and what becomes of it when the migration costs more or saves less."""

    saving_usd_per_run: float
    saving_percent: float
    saving_usd_per_year: float
    """Of use alone, the migration not counted."""
    answer: Point
    sensitivity: tuple[Point, ...]


def breakeven(
    migration: Migration,
    cost_factors: Sequence[float] = COST_FACTORS,
    saving_factors: Sequence[float] = SAVING_FACTORS,
) -> Breakeven:
    """Runs and months until savings equal the migration's cost; money is not discounted.

    runs = migration / (before - after), months = runs / runs a month.

    Raises:
        PlanError: The new way does not cost less, so that it never pays for itself.
    """
    if migration.saving_usd <= 0:
        raise PlanError(
            f"${migration.after_usd:,.2f} after is not below ${migration.before_usd:,.2f} before: it never breaks even"
        )
    return Breakeven(
        saving_usd_per_run=migration.saving_usd,
        saving_percent=100 * migration.saving_usd / migration.before_usd,
        saving_usd_per_year=12 * migration.runs_per_month * migration.saving_usd,
        answer=_point(migration, 1.0, 1.0),
        sensitivity=tuple(_point(migration, cost, saving) for cost in cost_factors for saving in saving_factors),
    )


def _point(migration: Migration, cost: float, saving: float) -> Point:
    runs = migration.usd * cost / (migration.saving_usd * saving)
    # Rounded first, so that a quotient a hair above a whole number is that number.
    return Point(cost, saving, ceil(round(runs, 9)), runs, runs / migration.runs_per_month)
