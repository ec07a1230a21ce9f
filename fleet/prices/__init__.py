"""Prices: which dated one an hour of a fleet's instance is counted at.

How old one may be, how it is written, and what is kept of it are the modules'.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fleet.fleet_spec import FleetSpec, MarketKind
from fleet.instances import InstanceType, Price, PriceKind, instance_type

__all__ = ["kind_for", "price_for", "price_of"]


# An on-demand capacity reservation is billed at the on-demand rate, used or not.
_KIND_OF_MARKET: Final[Mapping[MarketKind, PriceKind]] = {
    MarketKind.ON_DEMAND: PriceKind.ON_DEMAND,
    MarketKind.RESERVATION: PriceKind.ON_DEMAND,
    MarketKind.CAPACITY_BLOCK: PriceKind.CAPACITY_BLOCK,
    MarketKind.SPOT: PriceKind.SPOT,
}


def kind_for(market: MarketKind) -> PriceKind:
    """How an hour of a fleet that is bought on ``market`` is priced."""
    return _KIND_OF_MARKET[market]


def price_for(
    instance_type: InstanceType, region: str, market: MarketKind, refreshed: Iterable[Price] = ()
) -> Price | None:
    """The newest known price of that market in that region, or None: an unknown price is never guessed.

    ``refreshed`` are prices of this very type that AWS was asked for; they lie over the embedded ones, and the newer
    one counts. Spot prices are kept per zone ("us-east-2 (use2-az3)"); a zone's price stands for its region, and among
    equally new ones the dearest, so that waste is not understated.
    """
    kind = kind_for(market)
    every = (*instance_type.prices, *refreshed)
    known = [p for p in every if p.kind is kind and p.usd_per_hour > 0 and p.region.partition(" ")[0] == region]
    return max(known, key=lambda price: (price.as_of, price.usd_per_hour), default=None)


def price_of(spec: FleetSpec, refreshed: Mapping[str, Iterable[Price]] | None = None) -> Price | None:
    """What an hour of the fleet's nodes is counted at: its own price, if it has one, before every list's.

    ``refreshed`` are prices by instance type.
    """
    if spec.price is not None:
        return spec.price
    of_type = (refreshed or {}).get(spec.instance_type, ())
    return price_for(instance_type(spec.instance_type), spec.region, spec.market, of_type)
