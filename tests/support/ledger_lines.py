"""Lines of the ledger, as few of their properties as a test is about."""

from datetime import date
from typing import Any

from fleet.ledger import PER_USD, Category, Line, PaidPrice
from fleet.ledger.amounts import UNITS

ON_DEMAND = PaidPrice(21_500_000, "on-demand", "EC2 price list", "2026-08-01")


def line(day: str, usd: float | None, category: Category = Category.RUNNING, **changes: Any) -> Line:
    """A line of ``usd``; None is unpriced."""
    given: dict[str, Any] = {
        "day": date.fromisoformat(day),
        "environment": "prod",
        "fleet": "pretrain",
        "instance_type": "trn1.32xlarge",
        "job": "j1",
        "owner": "ana",
        "category": category,
        "price": None if usd is None else ON_DEMAND,
        "units": 60 * UNITS,
        "amount": None if usd is None else round(usd * PER_USD),
        **changes,
    }
    return Line(**given)


def amount(usd: float) -> int:
    """Dollars as the ledger counts them."""
    return round(usd * PER_USD)
