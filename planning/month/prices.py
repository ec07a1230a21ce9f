"""What AWS services cost besides instances: dated prices with their sources, from ``data/service_prices.json``.

All are of us-east-1. us-east-2 and us-west-2 mostly have the same; elsewhere they are an approximation, and are said
to be one.
"""

import json
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

from fleet.prices.age import staleness

HOURS: Final = 730
MINUTES: Final = HOURS * 60
GB: Final = 1e9


@dataclass(frozen=True, slots=True)
class ServicePrice:
    """USD for one ``unit``. ``as_of`` is an ISO date or month, or ``undated`` where the source shows none."""

    what: str
    usd: float
    unit: str
    as_of: str
    source: str
    provenance: str

    @property
    def kind(self) -> str:
        """What everybody pays who has agreed on nothing else."""
        return "list price"

    @property
    def label(self) -> str:
        """Its kind, where and when it was read."""
        return f"{self.kind}, {region()}, {self.as_of} ({self.source})"


@dataclass(frozen=True, slots=True)
class NotPriced:
    """Something that costs, and of which nobody can say here what."""

    what: str
    why: str


def region() -> str:
    """The region of all service prices."""
    return str(_data()["region"])


@cache
def service_price(key: str) -> ServicePrice:
    """The price called ``key``: ``nat-gb``.

    Raises:
        KeyError: There is no such price.
    """
    return _price(_data()["prices"][key])


def stale_services(today: date) -> str | None:
    """How many of all service prices are stale, in one line; None where none is."""
    every = [*map(service_price, _data()["prices"]), metric_price()]
    old = [price.as_of for price in every if staleness(price, today) is not None]
    if not old:
        return None
    return f"STALE: {len(old)} of {len(every)} list prices of services are too old or undated, the oldest of {min(old)}"


def not_priced() -> tuple[NotPriced, ...]:
    """What an environment is billed for that no line can tell."""
    return tuple(NotPriced(**entry) for entry in _data()["not_priced"])


@cache
def metric_price() -> ServicePrice:
    """A custom metric in the first tier."""
    entry = _data()["metric_tiers"]
    return _price({**entry, "usd": entry["tiers"][0]["usd"]})


def metrics_usd(metrics: float) -> float:
    """USD a month for so many custom metrics, tier by tier: $0.30 for each of the first 10,000, then less."""
    left, usd = metrics, 0.0
    for tier in _data()["metric_tiers"]["tiers"]:
        part = left if tier["metrics"] is None else min(left, tier["metrics"])
        usd += part * tier["usd"]
        left -= part
    return usd


def _price(entry: dict[str, Any]) -> ServicePrice:
    source = _data()["sources"][entry["source"]]
    return ServicePrice(
        entry["what"], entry["usd"], entry["unit"], entry["as_of"], source["label"], source["provenance"]
    )


@cache
def _data() -> dict[str, Any]:
    text = files("fleet").joinpath("data/service_prices.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
