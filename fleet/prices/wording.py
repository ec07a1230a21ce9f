"""How money is written: never without the kind and the date of the price behind it.

Everything that a person reads of dollars goes through here; a contract test finds who writes them another way.
"""

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from fleet.prices.age import Dated, staleness

UNKNOWN = "no price is known"


class Priced(Dated, Protocol):
    """A price with the words that say where it comes from."""

    @property
    def usd_per_hour(self) -> float:
        """USD per instance-hour."""
        ...

    @property
    def source(self) -> str:
        """Who says so."""
        ...


@dataclass(frozen=True, slots=True)
class Fee:
    """Dollars that were paid, or are asked for, as they stand: ``kind`` names them, ``as_of`` is their day."""

    kind: str
    as_of: date

    def __str__(self) -> str:
        """``Capacity Block fee, 2026-11-22``."""
        return f"{self.kind}, {self.as_of.isoformat()}"


def amount(usd: float | None) -> str:
    """A bare figure with cents and thousands; "-" where it is not known, which is not zero.

    For the cell of a table, or a part of a sentence, that says of which price it is elsewhere.
    """
    return "-" if usd is None else f"{usd:,.2f}"


def small_amount(usd: float) -> str:
    """A bare figure with all of its digits: a request or a second costs far less than a cent."""
    return f"{usd:,.10f}".rstrip("0").rstrip(".")


def basis(price: Priced | None, today: date) -> str:
    """Kind, date and source of a price, and that it is stale: ``on-demand, 2026-10-03 (AWS API)``."""
    if price is None:
        return UNKNOWN
    old = staleness(price, today)
    return f"{price.kind}, {price.as_of} ({source(price)}){f', STALE: {old}' if old else ''}"


def rate(price: Priced, today: date | None) -> str:
    """A node-hour with its basis: ``$21.50 per node-hour, on-demand, AWS API, as of 2026-10-03``.

    ``today`` is None where it is written on one day and read on others.
    """
    old = staleness(price, today) if today else None
    text = f"${amount(price.usd_per_hour)} per node-hour, {price.kind}, {source(price)}, as of {price.as_of}"
    return f"{text}, STALE: {old}" if old else text


def paid(usd: float, fee: Fee) -> str:
    """A sum with what it is and when: ``$20,597.22 (Capacity Block fee, 2026-11-22)``."""
    return f"${amount(usd)} ({fee})"


def source(price: Priced) -> str:
    """How the source came by the price is for the log event; people read who it is."""
    return price.source.partition(" (")[0]
