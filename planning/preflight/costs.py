"""Is the price that waste is counted at known, and recent?

Does AWS count costs by the tags that budgets and the ledger's comparison look at?
"""

from collections.abc import Iterator, Mapping
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


# Cost Management user guide, "Activating user-defined cost allocation tags": by hand, in the account that pays; up to
# 24 hours until they count, and nothing from before then.
NEEDED: Final = ("environment", "owner")
ACTIVE: Final = "Active"


def diagnose_cost_tags(seen: Mapping[str, str]) -> Iterator[Diagnostic]:
    """``seen`` are states by the tag's key; a key that nothing billed has carried yet is not there."""
    for key in NEEDED:
        if seen.get(key) != ACTIVE:
            state = f"is {seen[key].lower()}" if key in seen else "has not been seen on anything billed yet"
            yield warn(
                "cost-tag-inactive",
                "budgets",
                key,
                f"the cost allocation tag {key} {state}: AWS Budgets and Cost Explorer count nothing by it",
                "in the account that pays: aws ce update-cost-allocation-tags-status --cost-allocation-tags-status "
                f"TagKey={key},Status=Active",
            )
