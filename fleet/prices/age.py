"""How old a price may be before it is called stale. What day it is, the caller says."""

from collections.abc import Mapping
from datetime import date
from typing import Final, Protocol

from fleet.instances import PriceKind

# On-demand, Savings Plans and SageMaker rates change seldom, and the catalogue's own rule is 90 days. Capacity Block
# rates are set anew about every quarter (notice on the EC2 Capacity Blocks pricing page). Spot prices move by the day:
# three days outlast a refresh that failed twice. What was agreed on, or bought, lasts for its term of a year.
AGE_LIMIT_DAYS: Final[Mapping[PriceKind, int]] = {
    PriceKind.ON_DEMAND: 90,
    PriceKind.CAPACITY_BLOCK: 90,
    PriceKind.SPOT: 3,
    PriceKind.SAVINGS_PLAN: 90,
    PriceKind.RESERVED: 366,
    PriceKind.SAGEMAKER_HOSTING: 90,
    PriceKind.NEGOTIATED: 366,
}
_OF_ANY_OTHER: Final = 90
_MONTH: Final = len("2026-08")


class Dated(Protocol):
    """A price as far as its age goes, whoever describes it: ``as_of`` is an ISO date or month."""

    @property
    def kind(self) -> str:
        """One of ``PriceKind``."""
        ...

    @property
    def as_of(self) -> str:
        """The day, or the month, of the figure."""
        ...


def read_on(price: Dated) -> date:
    """The day a price is known to be of; a month stands for its first day, so that no price looks newer than it is.

    Raises:
        ValueError: ``as_of`` is neither a date nor a month.
    """
    return date.fromisoformat(price.as_of if len(price.as_of) > _MONTH else f"{price.as_of}-01")


def limit_days(kind: str) -> int:
    """How many days a price of that kind is good for."""
    return AGE_LIMIT_DAYS[PriceKind(kind)] if kind in set(PriceKind) else _OF_ANY_OTHER


def staleness(price: Dated, today: date) -> str | None:
    """Why the price is stale, in a few words; None while it is not.

    A price whose date cannot be read is stale: nobody knows how old it is.
    """
    try:
        age = (today - read_on(price)).days
    except ValueError:
        return f"its date {price.as_of!r} cannot be read"
    limit = limit_days(price.kind)
    return f"{age} days old, limit {limit}" if age > limit else None
