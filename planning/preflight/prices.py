"""Is the price that waste is counted at known, and recent?"""

from collections.abc import Iterator
from datetime import date
from typing import Final

from fleet.diagnostics import Diagnostic, warn
from fleet.fleet_spec import FleetSpec
from fleet.instances import Price
from fleet.prices.age import staleness

PATH: Final = "market.kind"


def diagnose_price(spec: FleetSpec, price: Price | None, today: date) -> Iterator[Diagnostic]:
    """Warnings: without a price waste has no dollars, and with an old one the wrong ones."""
    if price is None:
        yield warn(
            "price-unknown",
            PATH,
            spec.market,
            f"no {spec.market} price of {spec.instance_type} is known in {spec.region}: cost metrics will be absent",
            "refresh the prices (fleet prices refresh), or write the fleet's own rate into its file as price",
        )
    elif old := staleness(price, today):
        yield warn(
            "price-old",
            PATH,
            price.as_of,
            f"${price.usd_per_hour:g} an hour for {spec.instance_type} is of {price.as_of}, {old} "
            f"({price.kind}, {price.source})",
            "refresh the prices (fleet prices refresh); a negotiated rate is looked up in its contract",
        )
