"""What EC2 offers, and which of it is the best buy."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fleet.instances import instance_type


@dataclass(frozen=True, slots=True)
class Offering:
    """One offer of EC2 (DescribeCapacityBlockOfferings). ``fee_usd`` is for all of it; times in UTC."""

    offering_id: str
    instance_type: str
    instances: int
    availability_zone: str
    start: datetime
    end: datetime
    fee_usd: float

    @property
    def duration(self) -> timedelta:
        """From the first minute to the end that is billed, the 30 minutes of termination included."""
        return self.end - self.start

    @property
    def usd_per_instance_hour(self) -> float:
        """The fee by instance and hour."""
        return self.fee_usd / self.instances / (self.duration / timedelta(hours=1))

    @property
    def usd_per_core_hour(self) -> float:
        """The fee by physical NeuronCore and hour: what compares types with each other."""
        return self.usd_per_instance_hour / instance_type(self.instance_type).physical_cores


def ranked(offerings: Iterable[Offering]) -> tuple[Offering, ...]:
    """The cheapest core-hour first; of two at the same price the one that starts first."""
    return tuple(
        sorted(offerings, key=lambda offer: (round(offer.usd_per_core_hour, 6), offer.start, offer.offering_id))
    )
