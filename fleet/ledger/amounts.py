"""Money in whole numbers, so that any sum of parts is the sum of the whole.

An amount is a count of sixtieths of a millionth of a dollar: what a price of 0.000001 USD an hour costs in a minute.
A price of an hour, in millionths, is therefore the amount of a minute, and nothing is rounded before it is shown.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from fleet.cost import split_whole

PER_USD: Final = 60_000_000
# What a node-minute is split into among the jobs that share the node.
UNITS: Final = 1_000_000
_MILLIONTHS: Final = 1_000_000


def rate(usd_per_hour: float) -> int:
    """The amount of one minute at ``usd_per_hour``: that price in millionths of a dollar."""
    return round(usd_per_hour * _MILLIONTHS)


def usd(amount: int) -> Decimal:
    """Dollars, to the millionth."""
    return (Decimal(amount) / PER_USD).quantize(Decimal("0.000001"))


def cents(amounts: Sequence[int]) -> tuple[int, ...]:
    """``amounts`` in whole cents that add up to the cents of their sum: a printed table must add up as well."""
    total = sum(amounts)
    in_all = (2 * total * 100 + PER_USD) // (2 * PER_USD)
    return split_whole(in_all, [float(amount) for amount in amounts]) if amounts and total else (0,) * len(amounts)
