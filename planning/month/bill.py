"""The month as a whole: every line, what is not priced, sums, and what changes against another environment."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from planning.month.capacity import capacity_lines, hosting_lines
from planning.month.cloudwatch import cloudwatch_lines
from planning.month.line import NOTHING, Group, Line, Spread
from planning.month.prices import NotPriced, not_priced, region, stale_services
from planning.month.services import function_lines, network_lines, storage_lines
from planning.month.shape import EnvironmentShape, Use

_SAME_AS_US_EAST_1: Final = frozenset({"us-east-1", "us-east-2", "us-west-2"})


@dataclass(frozen=True, slots=True)
class Month:
    """A month of 730 hours."""

    environment: str
    lines: tuple[Line, ...]
    not_priced: tuple[NotPriced, ...]
    notes: tuple[str, ...]
    cloudwatch_budget_usd: float | None

    def usd(self, group: Group | None = None) -> Spread:
        """USD of one group, or of all."""
        return _sum(line.usd for line in self.lines if group in {None, line.group})

    @property
    def is_over_cloudwatch_budget(self) -> bool:
        """Whether what is expected of CloudWatch is above the environment's own budget for it."""
        budget = self.cloudwatch_budget_usd
        return budget is not None and self.usd(Group.CLOUDWATCH).expected > budget


@dataclass(frozen=True, slots=True)
class Change:
    """One line in both files. None: one of them has no such line."""

    group: Group
    what: str
    before: Spread | None
    after: Spread | None

    @property
    def usd(self) -> Spread:
        """By how much it rises."""
        return (self.after or NOTHING) - (self.before or NOTHING)


def month_of(environment: EnvironmentShape, use: Use | None = None, today: date | None = None) -> Month:
    """What ``environment`` costs, with its nodes in ``use``; ``today`` is the day on which prices may be stale.

    It is None where only what does not depend on them is read.
    """
    used = use or Use()
    nodes, unknown = capacity_lines(environment.fleets, used, today)
    hosted, unknown_hosted = hosting_lines(environment.hosted, today)
    lines = [
        *nodes,
        *hosted,
        *network_lines(environment, used),
        *storage_lines(environment, used),
        *function_lines(environment),
        *cloudwatch_lines(environment, used),
    ]
    notes = []
    if environment.region not in _SAME_AS_US_EAST_1:
        notes.append(f"prices of services are of {region()}; {environment.region} may differ by a third and more")
    if today is not None and (old := stale_services(today)):
        notes.append(old)
    notes += [f"{each.name}: {each.prices.text(each.nodes, today)}" for each in environment.hosted]
    missing = (*unknown, *unknown_hosted, *not_priced())
    return Month(environment.name, tuple(lines), missing, tuple(notes), environment.cloudwatch_budget_usd)


def changes(before: Month, after: Month) -> tuple[Change, ...]:
    """Lines that differ, those of ``after`` first and in its order."""
    old = {(line.group, line.what): line.usd for line in before.lines}
    new = {(line.group, line.what): line.usd for line in after.lines}
    both = dict.fromkeys((*new, *old))
    found = (Change(group, what, old.get((group, what)), new.get((group, what))) for group, what in both)
    return tuple(change for change in found if change.before != change.after)


def _sum(spreads: Iterable[Spread]) -> Spread:
    return sum(spreads, NOTHING)
