"""How commands write dollars, and where a dollar comes from."""

from datetime import UTC, date, datetime

from fleet.instances import Price
from fleet.prices.wording import amount, basis

dollars = amount


def today() -> date:
    """The day that prices are old as of: here the commands that write dollars read the clock."""
    return datetime.now(UTC).date()


def priced(price: Price | None) -> str:
    """Kind, date and source of a price, and that it is stale."""
    return basis(price, today())
