"""What a day's dollars bought nothing with: by owner and job, the worst first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from fleet.ledger import Category, Line
from fleet.ledger.amounts import UNITS

# What a person calls each; "below target" is the part of running time that utilization did not use.
BELOW_TARGET: Final = "below target"
OF_CATEGORY: Final[Mapping[Category, str]] = {
    Category.IDLE: "idle",
    Category.UNALLOCATED_RESERVED: "reserved, unused",
    Category.COMPILING: "waiting for compilation",
    Category.FAULT: "faulty",
    Category.UNSEEN: "unwatched",
    Category.RUNNING: BELOW_TARGET,
}


@dataclass(frozen=True, slots=True)
class Waste:
    """Whose, and for what; ``amounts`` are the ledger's whole numbers by the words of ``OF_CATEGORY``."""

    owner: str
    job: str | None
    fleet: str
    amounts: Mapping[str, int]
    prices: tuple[tuple[str, str], ...]

    @property
    def amount(self) -> int:
        """All of it."""
        return sum(self.amounts.values())


@dataclass(frozen=True, slots=True)
class Day:
    """``paid`` is the whole day's amount, ``wastes`` the worst first; ``unpriced_node_hours`` are in no dollar."""

    paid: int
    wastes: tuple[Waste, ...]
    unpriced_node_hours: float
    prices: tuple[tuple[str, str], ...]

    @property
    def amount(self) -> int:
        """What was wasted in all."""
        return sum(waste.amount for waste in self.wastes)

    def by_kind(self) -> Mapping[str, int]:
        """The same by the words of ``OF_CATEGORY``, the most first."""
        kinds: dict[str, int] = {}
        for waste in self.wastes:
            for kind, amount in waste.amounts.items():
                kinds[kind] = kinds.get(kind, 0) + amount
        return dict(sorted(kinds.items(), key=lambda each: -each[1]))


def day_of(lines: Iterable[Line]) -> Day:
    """The waste in the lines of one day."""
    every = list(lines)
    groups: dict[tuple[str, str | None, str], list[Line]] = {}
    for line in every:
        if _wasted(line):
            groups.setdefault((line.owner, line.job, line.fleet), []).append(line)
    wastes = [_waste(*key, of) for key, of in groups.items()]
    return Day(
        paid=sum(line.amount or 0 for line in every),
        wastes=tuple(sorted(wastes, key=lambda each: (-each.amount, each.owner, each.job or "", each.fleet))),
        unpriced_node_hours=sum(line.units for line in every if line.amount is None) / UNITS / 60,
        prices=_prices(every),
    )


def _waste(owner: str, job: str | None, fleet: str, lines: list[Line]) -> Waste:
    amounts: dict[str, int] = {}
    for line in lines:
        kind = OF_CATEGORY[line.category]
        amounts[kind] = amounts.get(kind, 0) + _wasted(line)
    return Waste(owner, job, fleet, dict(sorted(amounts.items(), key=lambda each: -each[1])), _prices(lines))


def _wasted(line: Line) -> int:
    if line.amount is None or line.category not in OF_CATEGORY:
        return 0
    # Of a running minute only what was measured as lost; of the others every dollar.
    return (line.wasted or 0) if line.category is Category.RUNNING else line.amount


def _prices(lines: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({(line.price.kind, line.price.as_of) for line in lines if line.price and line.amount}))
