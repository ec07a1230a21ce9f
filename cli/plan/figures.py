"""How plans write dollars, and where a dollar comes from."""

from fleet.instances import Price


def dollars(usd: float | None) -> str:
    """With cents and thousands; "-" where it is not known, which is not zero."""
    return "-" if usd is None else f"{usd:,.2f}"


def priced(price: Price | None) -> str:
    """Kind, place, date and source of a price."""
    return "no price is known" if price is None else f"{price.kind}, {price.as_of} ({price.source})"
