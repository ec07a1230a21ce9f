"""Is the price that waste is counted at known, and recent?"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from fleet.diagnostics import Diagnostic, warn
from fleet.fleet_spec import FleetSpec
from fleet.instances import Price

OLDEST: Final = timedelta(days=90)
PATH: Final = "market.kind"


def read_on(price: Price) -> date:
    """The day a price is known to be of; a month stands for its first day, so that no price looks newer than it is."""
    return date.fromisoformat(price.as_of if len(price.as_of) > len("2026-08") else f"{price.as_of}-01")


def diagnose_price(spec: FleetSpec, price: Price | None, today: date) -> Iterator[Diagnostic]:
    """Warnings: without a price waste has no dollars, and with an old one the wrong ones."""
    if price is None:
        yield warn(
            "price-unknown",
            PATH,
            spec.market,
            f"no {spec.market} price of {spec.instance_type} is known in {spec.region}: cost metrics will be absent",
            "add it to fleet/data/instances.json, with its source and date",
        )
    elif today - read_on(price) > OLDEST:
        yield warn(
            "price-old",
            PATH,
            price.as_of,
            f"${price.usd_per_hour:g} an hour for {spec.instance_type} is of {price.as_of}, more than {OLDEST.days} "
            f"days ago ({price.source})",
            "look the price up and correct fleet/data/instances.json, with its source and date",
        )
