"""Options side by side: cost of a million units, of a run, of a month, and of a fleet for a target rate.

Throughput is measured, never computed here. A price is one of the catalogue, with its kind and date, or one given by
hand, which names where it was read; an option that has both is worked out at both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import ceil
from typing import Final

from fleet.instances import Price
from fleet.prices.age import staleness
from planning.money import PlanError, positive

SECONDS_PER_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class Rate:
    """USD per instance-hour. ``label`` names kind, date and source of the price."""

    usd_per_hour: float
    label: str

    @classmethod
    def of_catalogue(cls, price: Price, today: date) -> "Rate":
        """A dated price of the catalogue; the label says when it is stale."""
        old = staleness(price, today)
        label = f"{price.kind}, {price.region}, {price.as_of} ({price.source}){f', STALE: {old}' if old else ''}"
        return cls(price.usd_per_hour, label)


@dataclass(frozen=True, slots=True)
class Phase:
    """So many instances at work for so long, or a sum that is known as it stands.

    ``instances`` at ``rates``; ``throughput`` units a second, of all of them together; ``hours`` of a run where the
    time is known rather than the throughput; ``usd``: a sum without instances.
    """

    instances: int = 0
    rates: tuple[Rate, ...] = ()
    """The price given by hand first, if there is one, then that of the catalogue."""
    throughput: float | None = None
    hours: float | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        """Refuse numbers out of range and mixtures of a sum with instances.

        Raises:
            PlanError: A number is not above zero, or there is nothing to compute a cost from.
        """
        if self.usd is not None:
            positive("usd", self.usd)
            if self.instances or self.throughput or self.hours:
                raise PlanError("usd is a sum of its own; it goes with neither instances, throughput nor hours")
            return
        positive("instances", self.instances)
        if not self.rates:
            raise PlanError("no price is known; give price=, and source= for where it was read")
        for rate in self.rates:
            positive("price", rate.usd_per_hour)
        for name, number in (("throughput", self.throughput), ("hours", self.hours)):
            if number is not None:
                positive(name, number)

    def usd_per_hour(self, at: int) -> float:
        """Of all instances, at the rate with that index; the last one where there are fewer."""
        return self.instances * self.rates[min(at, len(self.rates) - 1)].usd_per_hour if self.rates else 0.0


@dataclass(frozen=True, slots=True)
class Option:
    """One choice; its phases follow each other (research, validation, production) and their costs add up."""

    name: str
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What the options are measured by."""

    units: float | None = None
    """Tokens or samples of one run."""
    units_per_second: float | None = None
    """What a fleet has to deliver."""
    hours_per_month: float = 730.0
    """730 is a year of 8,760 hours in twelve; many documents count 30 days, 720 hours."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one option costs at one set of prices. None: its numbers do not say."""

    option: str
    prices: tuple[str, ...]
    usd_per_hour: float | None
    usd_per_month: float | None
    usd_per_million_units: float | None
    run_hours: float | None
    run_usd: float | None
    fleet_instances: int | None
    fleet_usd_per_hour: float | None
    saving_percent: float | None = None
    """Below the dearest option at the same set of prices, on the same figure."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``given``: at prices given by hand where there are any. ``today``: at those of the catalogue."""

    given: tuple[Outcome, ...]
    today: tuple[Outcome, ...]


def compare(options: Sequence[Option], target: Target) -> Comparison:
    """Work out every option, at the prices given and, where one differs from it, at those of the catalogue.

    Raises:
        PlanError: There are fewer than two options, or a target is not above zero.
    """
    if len(options) < 2:
        raise PlanError(f"{len(options)} option to compare; give --option at least twice, with different names")
    positive("hours per month", target.hours_per_month)
    for name, number in (("units", target.units), ("target rate", target.units_per_second)):
        if number is not None:
            positive(name, number)
    given = [_outcome(option, target, 0) for option in options]
    has_two = any(len(phase.rates) > 1 for option in options for phase in option.phases)
    today = [_outcome(option, target, 1) for option in options] if has_two else []
    return Comparison(_with_savings(given), _with_savings(today))


def _outcome(option: Option, target: Target, at: int) -> Outcome:
    per_hour = option.phases[0].usd_per_hour(at) if len(option.phases) == 1 and option.phases[0].rates else None
    runs = [_run(phase, target, at) for phase in option.phases]
    known = [run for run in runs if run is not None]
    is_known = len(known) == len(runs)
    throughput = option.phases[0].throughput if len(option.phases) == 1 else None
    fleet = _fleet(option.phases[0], target) if throughput else None
    rates = [phase.rates[min(at, len(phase.rates) - 1)].label for phase in option.phases if phase.rates]
    return Outcome(
        option=option.name,
        prices=tuple(dict.fromkeys(rates)),
        usd_per_hour=per_hour,
        usd_per_month=None if per_hour is None else per_hour * target.hours_per_month,
        usd_per_million_units=per_hour / (throughput * SECONDS_PER_HOUR) * 1e6 if per_hour and throughput else None,
        run_hours=sum(hours for hours, _ in known) if is_known else None,
        run_usd=sum(usd for _, usd in known) if is_known else None,
        fleet_instances=fleet,
        fleet_usd_per_hour=fleet * per_hour / option.phases[0].instances if fleet and per_hour else None,
    )


def _run(phase: Phase, target: Target, at: int) -> tuple[float, float] | None:
    """Hours and USD of the phase."""
    if phase.usd is not None:
        return 0.0, phase.usd
    hours = phase.hours
    if hours is None and phase.throughput and target.units:
        hours = target.units / phase.throughput / SECONDS_PER_HOUR
    return None if hours is None else (hours, hours * phase.usd_per_hour(at))


def _fleet(phase: Phase, target: Target) -> int | None:
    """Instances that deliver the target rate, in whole groups of the option's own size: that is what was measured."""
    if target.units_per_second is None or phase.throughput is None:
        return None
    # Rounded first, so that 3 x 0.1 does not take a fourth group.
    return ceil(round(target.units_per_second / phase.throughput, 9)) * phase.instances


def _with_savings(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Savings on cost per million units where all options have one, else on a run, else on an hour."""
    for figure in ("usd_per_million_units", "run_usd", "usd_per_hour"):
        costs = [getattr(outcome, figure) for outcome in outcomes]
        if outcomes and all(costs):
            dearest = max(costs)
            return tuple(
                replace(outcome, saving_percent=100 * (1 - cost / dearest))
                for outcome, cost in zip(outcomes, costs, strict=True)
            )
    return tuple(outcomes)
