"""Extensions of Capacity Blocks: offered from the end of a block on, bought, and remembered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from local.emulator.api.answers import Entry, page
from local.emulator.api.errors import AwsError
from local.emulator.capacity.blocks import Offer, offer_of, type_of, usd_per_hour
from local.emulator.capacity.reservations import BLOCK, Reservations

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
