"""What EC2 offers: instance types by zone, and extensions of Capacity Blocks, which are bought and remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fleet.instances import InstanceType, catalogue, instance_type
from local.emulator.api.answers import Entry, matching, page
from local.emulator.api.errors import AwsError
from local.emulator.capacity.blocks import Offer, offer_of, type_of, usd_per_hour
from local.emulator.capacity.reservations import BLOCK, Reservations

_FILTERS: Final = {"instance-type": "InstanceType", "location": "Location"}


@dataclass(slots=True)
class Offerings:
    """One account's view of what EC2 offers."""

    _seeded: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def seed(self, region: str, type_name: str, zone_ids: Sequence[str]) -> None:
        """Offer a type in these zones of a region and in no other.

        Raises:
            UnknownInstanceTypeError: EC2 does not have it.
        """
        self._seeded[region, instance_type(type_name).name] = frozenset(zone_ids)

    def describe(self, region: str, zones: Mapping[str, str], request: Mapping[str, Any]) -> Entry:
        """DescribeInstanceTypeOfferings; ``zones`` are the ids of the region's zones by name."""
        kind = request.get("LocationType", "region")
        found = [
            {"InstanceType": known.name, "LocationType": kind, "Location": location}
            for known in catalogue().values()
            for location in self._locations(region, zones, known, kind)
        ]
        entries, more = page(matching(found, request.get("Filters", []), _FILTERS), request)
        return {"InstanceTypeOfferings": entries, **more}

    def _locations(self, region: str, zones: Mapping[str, str], known: InstanceType, kind: str) -> list[str]:
        ids = self._seeded.get((region, known.name), known.availability_zone_ids)
        offered = {name: zone_id for name, zone_id in zones.items() if zone_id in ids}
        if kind == "availability-zone-id":
            return list(offered.values())
        if kind == "availability-zone":
            return list(offered)
        if kind == "region":
            is_seeded = (region, known.name) in self._seeded
            return [region] if (offered if is_seeded else region in known.regions) else []
        raise AwsError("InvalidParameterValue", f"Invalid value '{kind}' for LocationType")


_DAY: Final = timedelta(days=1)


@dataclass(slots=True)
class Extensions:
    """Those of one account. An offer is known once somebody has asked for it."""

    reservations: Reservations
    _offers: dict[tuple[str, str, str], Offer] = field(default_factory=dict)
    _bought: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)

    def offerings(self, region: str, request: Mapping[str, Any]) -> Entry:
        """DescribeCapacityBlockExtensionOfferings: as many hours as asked for."""
        block = self._block(region, request)
        length = timedelta(hours=request.get("CapacityBlockExtensionDurationHours", 0))
        if length <= timedelta() or length % _DAY:
            raise AwsError("InvalidParameterValue", "The extension duration is not a multiple of 24 hours")
        name, end = block["InstanceType"], block["EndDate"]
        hourly = usd_per_hour(type_of(name), region)
        if hourly is None:
            raise AwsError("InvalidParameterValue", f"There is no extension of a block of {name} in {region}")
        offer = offer_of(name, block["TotalInstanceCount"], block["AvailabilityZone"], (end, end + length), hourly)
        self._offers[region, block["CapacityReservationId"], offer.offer_id] = offer
        entry = {**_described(block, offer), "StartDate": block["StartDate"], "Tenancy": "default"}
        return {"CapacityBlockExtensionOfferings": [entry]}

    def purchase(self, region: str, request: Mapping[str, Any]) -> Entry:
        """PurchaseCapacityBlockExtension: the block ends later, at once."""
        block = self._block(region, request)
        reservation_id, offer_id = block["CapacityReservationId"], str(request["CapacityBlockExtensionOfferingId"])
        offer = self._offers.get((region, reservation_id, offer_id))
        if offer is None or offer.start != block["EndDate"]:
            message = f"The capacity block extension offering ID '{offer_id}' does not exist"
            raise AwsError("InvalidCapacityBlockExtensionOfferingId.NotFound", message)
        self.reservations.put(region, reservation_id, {"EndDate": offer.end.isoformat()}, {})
        bought = {
            **_described(block, offer),
            "CapacityReservationId": reservation_id,
            "CapacityBlockExtensionStatus": "payment-succeeded",
            "CapacityBlockExtensionPurchaseDate": datetime.fromtimestamp(self.reservations.clock.now(), UTC),
        }
        self._bought.setdefault((region, reservation_id), []).append(bought)
        return {"CapacityBlockExtensions": [bought]}

    def history(self, region: str, request: Mapping[str, Any]) -> Entry:
        """DescribeCapacityBlockExtensionHistory."""
        wanted = request.get("CapacityReservationIds", [])
        found = [
            each
            for (where, reservation_id), bought in self._bought.items()
            if where == region and (not wanted or reservation_id in wanted)
            for each in bought
        ]
        entries, more = page(found, request)
        return {"CapacityBlockExtensions": entries, **more}

    def _block(self, region: str, request: Mapping[str, Any]) -> Entry:
        block = self.reservations.find(region, str(request.get("CapacityReservationId", "")))
        if block["ReservationType"] != BLOCK or block["State"] not in ("active", "scheduled"):
            message = f"The capacity reservation '{block['CapacityReservationId']}' cannot be extended"
            raise AwsError("InvalidCapacityReservationState", message)
        return block


def _described(block: Entry, offer: Offer) -> Entry:
    return {
        "CapacityBlockExtensionOfferingId": offer.offer_id,
        "InstanceType": offer.type_name,
        "InstanceCount": offer.instances,
        "AvailabilityZone": offer.zone,
        "AvailabilityZoneId": block["AvailabilityZoneId"],
        "CapacityBlockExtensionStartDate": offer.start,
        "CapacityBlockExtensionEndDate": offer.end,
        "CapacityBlockExtensionDurationHours": offer.hours,
        "UpfrontFee": f"{offer.fee_usd:.2f}",
        "CurrencyCode": "USD",
    }
