"""The ledger's lines, added up for those who read them; every dollar with its price's kind and date."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet.ledger.amounts import PER_USD, UNITS
from fleet.ledger.lines import Line
from fleet.ledger.node_minute import ALLOCATED, Category
from fleet.string_enum import StringEnum


class By(StringEnum):
    """Whose dollars are told apart."""

    JOB = "job"
    OWNER = "owner"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True)
class Total:
    """One of whoever pays. ``by_category`` holds amounts; ``prices`` are (kind, as-of date) of every price in them.

    The minutes of ``unpriced_units`` are in no amount. Costs of work are dollars of the jobs' own time over what they
    report, None where they report nothing. Steps are the net progress of the job's counter: what was trained again
    after a failure was paid for and counts once.
    """

    name: str | None
    by_category: Mapping[Category, int]
    units: int
    unpriced_units: int
    prices: tuple[tuple[str, str], ...]
    wasted: int | None
    usd_per_million_tokens: float | None
    usd_per_million_samples: float | None
    usd_per_step: float | None
    usd_per_busy_core_hour: float | None
    usd_per_useful_core_hour: float | None

    @property
    def amount(self) -> int:
        """All of it."""
        return sum(self.by_category.values())

    @property
    def allocated(self) -> int:
        """What jobs held."""
        return sum(amount for category, amount in self.by_category.items() if category in ALLOCATED)

    @property
    def node_hours(self) -> float:
        """Paid node-hours, priced or not."""
        return self.units / UNITS / 60


def totals(lines: Iterable[Line], by: By) -> tuple[Total, ...]:
    """The dearest first. By job, what belongs to none comes as the name None."""
    of_name: dict[str | None, list[Line]] = {}
    for line in lines:
        of_name.setdefault(getattr(line, by.value), []).append(line)
    found = [total(name, of) for name, of in of_name.items()]
    return tuple(sorted(found, key=lambda each: (-each.amount, each.name or "")))


def total(name: str | None, lines: Iterable[Line]) -> Total:
    """``lines`` as one."""
    every = list(lines)
    amounts: dict[Category, int] = {}
    for line in every:
        if line.amount is not None:
            amounts[line.category] = amounts.get(line.category, 0) + line.amount
    wasted = [line.wasted for line in every if line.wasted is not None]
    return Total(
        name=name,
        by_category=amounts,
        units=sum(line.units for line in every),
        unpriced_units=sum(line.units for line in every if line.amount is None),
        prices=tuple(sorted({(line.price.kind, line.price.as_of) for line in every if line.price and line.amount})),
        wasted=sum(wasted) if wasted else None,
        usd_per_million_tokens=_per(every, "tokens", 1e6),
        usd_per_million_samples=_per(every, "samples", 1e6),
        usd_per_step=_per_step(every),
        usd_per_busy_core_hour=_per(every, "busy_core_minutes", 60.0),
        usd_per_useful_core_hour=_per(every, "useful_core_minutes", 60.0),
    )


def _per(lines: Iterable[Line], work: str, times: float) -> float | None:
    """Dollars of the jobs that report ``work``, all of their time, for ``times`` of it; None with unpriced minutes."""
    every = list(lines)
    jobs = {(line.fleet, line.job) for line in every if getattr(line, work) is not None}
    theirs = [line for line in every if (line.fleet, line.job) in jobs]
    done = sum(getattr(line, work) or 0.0 for line in theirs)
    return _usd(theirs) * times / done if done and not _is_unpriced(theirs) else None


def _per_step(lines: Iterable[Line]) -> float | None:
    of_job: dict[tuple[str, str | None], list[Line]] = {}
    for line in lines:
        of_job.setdefault((line.fleet, line.job), []).append(line)
    steps, paid = 0, list[Line]()
    for theirs in of_job.values():
        seen = [step for line in theirs for step in (line.first_step, line.last_step) if step is not None]
        if seen and max(seen) > min(seen):
            steps += max(seen) - min(seen)
            paid += theirs
    return _usd(paid) / steps if steps and not _is_unpriced(paid) else None


def _usd(lines: Iterable[Line]) -> float:
    return sum(line.amount or 0 for line in lines) / PER_USD


def _is_unpriced(lines: Iterable[Line]) -> bool:
    return any(line.amount is None for line in lines)
