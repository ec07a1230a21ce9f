"""EC2's Capacity Blocks: what is offered, and buying it. Money is never moved."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fleet.instances import InstanceType, PriceKind, UnknownInstanceTypeError, instance_type
from local.emulator.api.answers import Entry, page
from local.emulator.api.errors import AwsError
from local.emulator.capacity.reservations import BLOCK, Reservations, new_id

# Capacity Blocks end at 11:30 UTC; one that is bought for whole days begins at 11:30, too.
_BEGINS: Final = timedelta(hours=11, minutes=30)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_WEEKS_AHEAD: Final = timedelta(weeks=8)
_LARGEST: Final = 64


@dataclass(frozen=True, slots=True)
class Offer:
    """One offer, remembered so that it can be bought."""

    offer_id: str
    type_name: str
    instances: int
    zone: str
    start: datetime
    end: datetime
    fee_usd: float

    @property
    def hours(self) -> int:
        """How long it lasts."""
        return int((self.end - self.start) / _HOUR)


@dataclass(slots=True)
class Blocks:
    """The market of one account. ``zones`` are the names of a region's zones."""

    reservations: Reservations
    _offers: dict[tuple[str, str], Offer] = field(default_factory=dict)

    def offerings(self, region: str, zones: Sequence[str], request: Mapping[str, Any]) -> Entry:
        """DescribeCapacityBlockOfferings: one a day in each zone that has the type, within the range asked for."""
        found = self._offered(region, zones, request)
        self._offers.update({(region, each.offer_id): each for each in found})
        entries, more = page([_offering(each) for each in found], request)
        return {"CapacityBlockOfferings": entries, **more}

    def _offered(self, region: str, zones: Sequence[str], request: Mapping[str, Any]) -> list[Offer]:
        if "CapacityDurationHours" not in request:
            raise AwsError("MissingParameter", "The request must contain the parameter CapacityDurationHours")
        wanted = type_of(str(request.get("InstanceType", "")))
        hourly = usd_per_hour(wanted, region)
        if region not in wanted.capacity_block_regions or hourly is None:
            return []
        instances, length = _instances(request), timedelta(hours=request["CapacityDurationHours"])
        if length <= timedelta() or length % _DAY:
            raise AwsError("InvalidParameterValue", "The capacity duration is not a multiple of 24 hours")
        now = datetime.fromtimestamp(self.reservations.clock.now(), UTC)
        earliest = max(request.get("StartDateRange", now), now)
        latest = min(request.get("EndDateRange", now + _WEEKS_AHEAD + length) - length, now + _WEEKS_AHEAD)
        start = earliest.replace(hour=0, minute=0, second=0, microsecond=0) + _BEGINS
        start += _DAY if start < earliest else timedelta()
        offers = []
        while start <= latest:
            for zone in self._having(wanted, zones):
                offers.append(offer_of(wanted.name, instances, zone, (start, start + length), hourly))
            start += _DAY
        return offers

    def _having(self, wanted: InstanceType, zones: Sequence[str]) -> list[str]:
        return [zone for zone in zones if self.reservations.zone_id(zone) in wanted.availability_zone_ids]

    def purchase(self, region: str, request: Mapping[str, Any]) -> Entry:
        """PurchaseCapacityBlock: a reservation that the clock makes active, and that it ends."""
        offer = self._offer(region, str(request.get("CapacityBlockOfferingId", "")))
        if offer.start.timestamp() < self.reservations.clock.now():
            raise AwsError(
                "InvalidCapacityBlockOfferingId.Expired", f"The offering '{offer.offer_id}' is no longer valid"
            )
        properties = {
            "InstanceType": offer.type_name,
            "InstancePlatform": request.get("InstancePlatform", "Linux/UNIX"),
            "AvailabilityZone": offer.zone,
            "InstanceCount": offer.instances,
            "InstanceMatchCriteria": "targeted",
            "EndDate": offer.end.isoformat(),
            "TagSpecifications": [
                each
                for each in request.get("TagSpecifications", [])
                if each.get("ResourceType") == "capacity-reservation"
            ],
        }
        attributes = {"ReservationType": BLOCK, "StartDate": offer.start.isoformat()}
        made = self.reservations.put(region, new_id(), properties, attributes)
        return {"CapacityReservation": self.reservations.entry(made)}

    def _offer(self, region: str, offer_id: str) -> Offer:
        found = self._offers.get((region, offer_id))
        if found is None:
            message = f"The capacity block offering ID '{offer_id}' does not exist"
            raise AwsError("InvalidCapacityBlockOfferingId.NotFound", message)
        return found


def type_of(name: str) -> InstanceType:
    """An instance type of the domain; ``AwsError`` for a name that EC2 does not have."""
    try:
        return instance_type(name)
    except UnknownInstanceTypeError as error:
        raise AwsError("InvalidParameterValue", f"The instance type '{name}' is invalid") from error


def _instances(request: Mapping[str, Any]) -> int:
    instances = int(request.get("InstanceCount", 1))
    if not 1 <= instances <= _LARGEST:
        raise AwsError("InvalidParameterValue", f"The instance count {instances} is not between 1 and {_LARGEST}")
    return instances


def usd_per_hour(of: InstanceType, region: str) -> float | None:
    """The newest price of the region, else of any; None for a type without a Capacity Block price."""
    prices = [each for each in of.prices if each.kind is PriceKind.CAPACITY_BLOCK]
    nearest = [each for each in prices if each.region == region] or prices
    return max(nearest, key=lambda each: each.as_of).usd_per_hour if nearest else None


def offer_of(name: str, instances: int, zone: str, span: tuple[datetime, datetime], hourly_usd: float) -> Offer:
    """The offer of these instances from the first moment of ``span`` to the second; the same one has the same id."""
    start, end = span
    text = f"{name}/{instances}/{zone}/{start.isoformat()}/{end.isoformat()}"
    offer_id = f"cbr-{hashlib.sha256(text.encode()).hexdigest()[:17]}"
    return Offer(offer_id, name, instances, zone, start, end, hourly_usd * instances * ((end - start) / _HOUR))


def _offering(offer: Offer) -> Entry:
    return {
        "CapacityBlockOfferingId": offer.offer_id,
        "InstanceType": offer.type_name,
        "AvailabilityZone": offer.zone,
        "InstanceCount": offer.instances,
        "StartDate": offer.start,
        "EndDate": offer.end,
        "CapacityBlockDurationHours": offer.hours,
        "UpfrontFee": f"{offer.fee_usd:.2f}",
        "CurrencyCode": "USD",
        "Tenancy": "default",
    }
