"""What EC2 offers, and which of it is the best buy."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: so many instances for so long, beginning between two moments, in UTC."""

    instance_type: str
    instances: int
    hours: int
    earliest: datetime
    latest: datetime

    def parameters(self) -> dict[str, object]:
        """The parameters of DescribeCapacityBlockOfferings; its second date is the latest end."""
        return {
            "InstanceType": self.instance_type,
            "InstanceCount": self.instances,
            "CapacityDurationHours": self.hours,
            "StartDateRange": self.earliest,
            "EndDateRange": self.latest + timedelta(hours=self.hours),
        }


def from_ec2(entry: Mapping[str, Any]) -> Offering:
    """One entry of DescribeCapacityBlockOfferings' answer."""
    return Offering(
        offering_id=entry["CapacityBlockOfferingId"],
        instance_type=entry["InstanceType"],
        instances=entry["InstanceCount"],
        availability_zone=entry["AvailabilityZone"],
        start=entry["StartDate"],
        end=entry["EndDate"],
        fee_usd=float(entry["UpfrontFee"]),
    )


def ranked(offerings: Iterable[Offering]) -> tuple[Offering, ...]:
    """The cheapest core-hour first; of two at the same price the one that starts first."""
    return tuple(
        sorted(offerings, key=lambda offer: (round(offer.usd_per_core_hour, 6), offer.start, offer.offering_id))
    )
