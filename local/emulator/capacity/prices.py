"""AWS's price lists, in the shapes that they were recorded in: the domain's embedded prices, until others are seeded.

Nobody has recorded Savings Plans rates of these types: there are those that are seeded, and no others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from fleet.instances import InstanceType, PriceKind, UnknownInstanceTypeError, catalogue, instance_type
from local.emulator.api.answers import Entry, json_page, page
from local.emulator.api.errors import AwsError
from local.emulator.clock import EmulatorClock

_EFFECTIVE: Final = "2026-01-01T00:00:00Z"
_YEAR_SECONDS: Final = 31_536_000


@dataclass(slots=True)
class PriceLists:
    """Of one account. ``_seeded`` by region, type and kind; the key of a zone's Spot price has its id, too."""

    clock: EmulatorClock
    _seeded: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def seed(self, region: str, type_name: str, kind: str, usd_per_hour: float) -> None:
        """Set a price; 0 is what the price list writes of what it does not sell.

        Raises:
            ValueError: there is no such type or kind.
        """
        try:
            instance_type(type_name)
        except UnknownInstanceTypeError as error:
            raise ValueError(str(error)) from error
        self._seeded[region, type_name, PriceKind(kind).value] = usd_per_hour

    def products(self, request: Mapping[str, Any]) -> Entry:
        """GetProducts: JSON in strings, one product for a type that is sold in the region."""
        wanted = {each["Field"]: each["Value"] for each in request.get("Filters", [])}
        region, hosting = wanted.get("regionCode", ""), request.get("ServiceCode") == "AmazonSageMaker"
        name = wanted.get("instanceName", "").removeprefix("ml.") if hosting else wanted.get("instanceType", "")
        known = catalogue().get(name)
        if known is None or region not in known.regions | known.capacity_block_regions:
            return {"FormatVersion": "aws_v1", "PriceList": []}
        kind = PriceKind.SAGEMAKER_HOSTING if hosting else PriceKind.ON_DEMAND
        usd = self._usd(known, region, kind)
        # EC2 lists a type that it does not sell on demand at nothing; SageMaker does not list it.
        found: list[Any] = [] if usd is None and hosting else [_product(name, region, usd or 0.0)]
        entries, more = page(found, request)
        return {"FormatVersion": "aws_v1", "PriceList": entries, **more}

    def spot_history(self, region: str, zones: Mapping[str, str], request: Mapping[str, Any]) -> Entry:
        """DescribeSpotPriceHistory: the price in force of each type and zone that has it. ``zones``: ids by name."""
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        found = [
            {
                "AvailabilityZone": zone,
                "AvailabilityZoneId": zone_id,
                "InstanceType": name,
                "ProductDescription": "Linux/UNIX",
                "SpotPrice": f"{usd:.6f}",
                "Timestamp": now,
            }
            for name in request.get("InstanceTypes", [])
            if (known := catalogue().get(name)) and (usd := self._usd(known, region, PriceKind.SPOT))
            for zone, zone_id in zones.items()
            if zone_id in known.availability_zone_ids
        ]
        entries, more = page(found, request)
        return {"SpotPriceHistory": entries, **more}

    def savings_plans_rates(self, request: Mapping[str, Any]) -> Entry:
        """DescribeSavingsPlansOfferingRates: the seeded ones, a year without upfront payment."""
        wanted = {each["name"]: each["values"] for each in request.get("filters", [])}
        found = [
            _rate(name, region, usd)
            for (region, name, kind), usd in self._seeded.items()
            if kind == PriceKind.SAVINGS_PLAN and region in wanted["region"] and name in wanted["instanceType"]
        ]
        entries, more = json_page(found, request)
        return {"searchResults": entries, **more}

    def _usd(self, known: InstanceType, region: str, kind: PriceKind) -> float | None:
        if (region, known.name, kind.value) in self._seeded:
            return self._seeded[region, known.name, kind.value]
        prices = [p for p in known.prices if p.kind is kind and p.region.partition(" ")[0] == region]
        return max(prices, key=lambda price: price.as_of).usd_per_hour if prices else None


def unknown(operation: str) -> AwsError:
    """The operation is not served here."""
    return AwsError("UnknownOperationException", f"The operation {operation} is not served here")


def _product(name: str, region: str, usd: float) -> str:
    sku = f"{name}-{region}"
    dimension = {"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    term = {"sku": sku, "effectiveDate": _EFFECTIVE, "priceDimensions": {f"{sku}.T.D": dimension}}
    attributes = {"instanceType": name, "regionCode": region, "usagetype": f"BoxUsage:{name}"}
    return json.dumps({
        "product": {"productFamily": "Compute Instance", "attributes": attributes, "sku": sku},
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {f"{sku}.T": term}},
    })  # fmt: skip


def _rate(name: str, region: str, usd: float) -> Entry:
    offering = {
        "offeringId": "00000000-0000-0000-0000-000000000000",
        "paymentOption": "No Upfront",
        "planType": "Compute",
        "durationSeconds": _YEAR_SECONDS,
        "currency": "USD",
        "planDescription": "1 year No Upfront Compute Savings Plan",
    }
    properties = {"instanceType": name, "region": region, "productDescription": "Linux/UNIX", "tenancy": "shared"}
    return {
        "savingsPlanOffering": offering,
        "rate": f"{usd:.5f}",
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"BoxUsage:{name}",
        "operation": "RunInstances",
        "properties": [{"name": key, "value": value} for key, value in properties.items()],
    }
