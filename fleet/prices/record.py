"""What the price table keeps of one price, and when a new figure takes the place of the one before.

A figure that is three times the one before, or a third of it, is a mistake until somebody has looked: it is kept
apart, and the old one stays, with its age and the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from fleet import FleetError
from fleet.instances import Price, PriceKind
from fleet.prices.age import read_on

WILD: Final = 3.0
"""A change by more than this factor, up or down, is not adopted silently."""
_NEEDED: Final = ("instance_type", "usd_per_hour", "kind", "region", "as_of", "source", "provenance", "read_at")


class PriceRecordError(FleetError, ValueError):
    """An item of the price table that cannot be read; the message names it and the field."""


@dataclass(frozen=True, slots=True)
class PriceRecord:
    """One price of one instance type. ``read_at`` is the UTC time, ISO 8601, of the last time that AWS was asked.

    ``previous`` is the figure before, ``held`` one that was not adopted, ``problem`` why there is none newer.
    """

    instance_type: str
    price: Price
    read_at: str
    detail: str = ""
    """What tells it from others of its kind: a zone id, the terms of a Savings Plan. Empty for the region's own."""
    previous: Price | None = None
    held: Price | None = None
    problem: str | None = None

    @property
    def key(self) -> str:
        """Its id in the table."""
        return price_key(self.price.region.partition(" ")[0], self.instance_type, self.price.kind, self.detail)


def price_key(region: str, instance_type: str, kind: PriceKind, detail: str = "") -> str:
    """``us-east-2/trn1.32xlarge/on-demand``: what nodes ask for; with ``detail`` one of several of its kind."""
    return "/".join(part for part in (region, instance_type, kind.value, detail) if part)


def adopt(before: PriceRecord | None, found: PriceRecord, default: Price | None) -> PriceRecord:
    """What the table is to hold after ``found`` was read. ``default`` is the embedded price, where there is no before.

    ``held`` of the answer is not None when the new figure was not adopted.
    """
    against = before.price if before else default
    new = found.price
    if against is not None and is_wild(against.usd_per_hour, new.usd_per_hour):
        text = f"${new.usd_per_hour:g} of {new.as_of} is more than {WILD:g} times off ${against.usd_per_hour:g}"
        kept = before or replace(found, price=replace(against, region=new.region))
        return replace(kept, read_at=found.read_at, held=new, problem=f"not adopted: {text} of {against.as_of}")
    previous = before.previous if before else None
    if before and before.price.usd_per_hour != new.usd_per_hour:
        previous = before.price
    return replace(found, previous=previous, held=None, problem=None)


def is_wild(old: float, new: float) -> bool:
    """Whether ``new`` is too far from ``old`` to be believed at once."""
    return not old / WILD <= new <= old * WILD


def accept(record: PriceRecord) -> PriceRecord:
    """The record after somebody has looked at the figure that was kept apart, and believes it.

    Raises:
        PriceRecordError: nothing was kept apart.
    """
    if record.held is None:
        raise PriceRecordError(f"{record.key}: nothing is kept apart; the price is {record.price.usd_per_hour:g}")
    return replace(record, price=record.held, previous=record.price, held=None, problem=None)


def to_item(record: PriceRecord) -> dict[str, str]:
    """The record as texts by field."""
    price = record.price
    fields: dict[str, str | None] = {
        "id": record.key,
        "instance_type": record.instance_type,
        "detail": record.detail or None,
        "read_at": record.read_at,
        "usd_per_hour": repr(price.usd_per_hour),
        "kind": price.kind.value,
        "region": price.region,
        "as_of": price.as_of,
        "source": price.source,
        "provenance": price.provenance,
        "problem": record.problem,
        **_figure("previous", record.previous),
        **_figure("held", record.held),
    }
    return {name: text for name, text in fields.items() if text is not None}


def texts(item: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """The fields of an item as DynamoDB answers it, each by its type: ``{"as_of": {"S": "2026-11-22"}}``."""
    return {field: str(next(iter(value.values()), "")) for field, value in item.items()}


def from_item(item: Mapping[str, str]) -> PriceRecord:
    """The record that ``to_item`` made.

    Raises:
        PriceRecordError: a field is missing or cannot be read, or the price is not above zero.
    """
    name = item.get("id", "an item without id")
    absent = [field for field in _NEEDED if not item.get(field)]
    if absent:
        raise PriceRecordError(f"{name}: {absent[0]} is missing")
    try:
        kind = PriceKind(item["kind"])
        price = _price(item, "", kind)
        read_on(price)
        previous, held = (_price(item, f"{of}_", kind) if f"{of}_usd_per_hour" in item else None for of in _OTHERS)
    except (KeyError, ValueError) as error:
        raise PriceRecordError(f"{name}: {error}") from error
    return PriceRecord(
        item["instance_type"], price, item["read_at"], item.get("detail", ""), previous, held, item.get("problem")
    )


_OTHERS: Final = ("previous", "held")


def _figure(name: str, price: Price | None) -> dict[str, str | None]:
    if price is None:
        return {}
    return {
        f"{name}_usd_per_hour": repr(price.usd_per_hour),
        f"{name}_as_of": price.as_of,
        f"{name}_source": price.source,
        f"{name}_provenance": price.provenance,
    }


def _price(item: Mapping[str, str], prefix: str, kind: PriceKind) -> Price:
    usd = float(item[f"{prefix}usd_per_hour"])
    if not 0 < usd < float("inf"):
        raise ValueError(f"{prefix}usd_per_hour is {usd:g}; a price is above zero")
    return Price(
        kind, usd, item["region"], item[f"{prefix}as_of"], item[f"{prefix}source"], item[f"{prefix}provenance"]
    )
