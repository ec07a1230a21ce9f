"""Which dated price an hour of a fleet's instance is counted at."""

from fleet.fleet_spec import MarketKind
from fleet.instances import InstanceType, Price, PriceKind

# An on-demand capacity reservation is billed at the on-demand rate, used or not.
_KIND_OF_MARKET = {
    MarketKind.ON_DEMAND: PriceKind.ON_DEMAND,
    MarketKind.RESERVATION: PriceKind.ON_DEMAND,
    MarketKind.CAPACITY_BLOCK: PriceKind.CAPACITY_BLOCK,
    MarketKind.SPOT: PriceKind.SPOT,
}


def price_for(instance_type: InstanceType, region: str, market: MarketKind) -> Price | None:
    """The newest known price of that market in that region, or None: an unknown price is never guessed.

    Spot prices are kept per zone ("us-east-2 (use2-az3)"); a zone's price stands for its region, and among equally
    new ones the dearest, so that waste is not understated.
    """
    kind = _KIND_OF_MARKET[market]
    known = [p for p in instance_type.prices if p.kind is kind and p.region.partition(" ")[0] == region]
    return max(known, key=lambda price: (price.as_of, price.usd_per_hour), default=None)
