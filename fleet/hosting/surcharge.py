"""What an hour of an instance costs at SageMaker and what the same one costs on EC2.

A price that nobody has published for a region is not taken from another one; what was true elsewhere is said apart.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from fleet.instances import InstanceType, Price, PriceKind
from fleet.prices.wording import amount, rate

_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Surcharge:
    """Both prices in one region, None where none is known; ``elsewhere`` is the pair of a region that has both."""

    instance_type: str
    region: str
    hosted: Price | None
    on_ec2: Price | None
    elsewhere: tuple[Price, Price] | None = None

    @property
    def usd_per_hour(self) -> float | None:
        """By how much an instance-hour costs more at SageMaker; None where one of the two is not known."""
        if self.hosted is None or self.on_ec2 is None:
            return None
        return self.hosted.usd_per_hour - self.on_ec2.usd_per_hour

    @property
    def percent(self) -> float | None:
        """The same, of EC2's price."""
        more = self.usd_per_hour
        return None if more is None or self.on_ec2 is None else _PERCENT * more / self.on_ec2.usd_per_hour

    def text(self, instances: int, today: date | None = None) -> str:
        """One line for people. ``today`` is None where it is written on one day and read on others."""
        name = f"ml.{self.instance_type}"
        if self.hosted is None:
            return f"the price of {name} in {self.region} is not known{self._elsewhere()}"
        hosted = f"{name} costs {rate(self.hosted, today)}"
        if self.on_ec2 is None or self.usd_per_hour is None:
            return f"{hosted}; EC2's price of {self.instance_type} in {self.region} is not known"
        more, word = self.usd_per_hour, "more" if self.usd_per_hour >= 0 else "less"
        return (
            f"{hosted}; on EC2 {rate(self.on_ec2, today)}: ${amount(abs(more))} {word} an instance-hour "
            f"({self.percent:+.1f} %), ${amount(abs(more) * instances)} an hour for {instances}"
        )

    def _elsewhere(self) -> str:
        if self.elsewhere is None:
            return ""
        hosted, on_ec2 = self.elsewhere
        percent = _PERCENT * (hosted.usd_per_hour / on_ec2.usd_per_hour - 1)
        return (
            f"; in {hosted.region} it was {percent:+.1f} % of EC2's "
            f"({hosted.kind}, {hosted.as_of}; {on_ec2.kind}, {on_ec2.as_of})"
        )


def surcharge(
    known: InstanceType, region: str, *, agreed: Price | None = None, refreshed: Iterable[Price] = ()
) -> Surcharge:
    """The newest prices of ``known`` in ``region``. ``agreed`` is the fleet's own of an hour at SageMaker."""
    every = (*known.prices, *refreshed)
    hosted = agreed or _newest(every, region, PriceKind.SAGEMAKER_HOSTING)
    found = Surcharge(known.name, region, hosted, _newest(every, region, PriceKind.ON_DEMAND))
    if hosted is not None:
        return found
    pairs = (
        (_newest(every, other, PriceKind.SAGEMAKER_HOSTING), _newest(every, other, PriceKind.ON_DEMAND))
        for other in sorted({price.region for price in every if price.kind is PriceKind.SAGEMAKER_HOSTING})
    )
    elsewhere = next(((one, other) for one, other in pairs if one and other), None)
    return Surcharge(known.name, region, None, found.on_ec2, elsewhere)


def _newest(prices: Iterable[Price], region: str, kind: PriceKind) -> Price | None:
    of_region = [price for price in prices if price.kind is kind and price.region == region]
    return max(of_region, key=lambda price: price.as_of, default=None)
