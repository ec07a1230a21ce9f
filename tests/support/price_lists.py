"""AWS's price lists in the shapes that they answer in, and as a world."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from fleet.instances import instance_type
from fleet.prices.record import PriceRecord
from lambdas.prices.blocks import CapacityBlocks
from lambdas.prices.price_list import OnDemand, SageMakerHosting
from lambdas.prices.savings_plans import SavingsPlans
from lambdas.prices.service import Dependencies
from lambdas.prices.source import Question
from lambdas.prices.spot import Spot
from lambdas.prices.table import PriceTable
from tests.support.client_shapes import shaped

NOW = datetime(2026, 11, 22, 5, 17, tzinfo=UTC)
REGION = "us-east-2"
Answer = Callable[..., dict[str, Any]]


def question(*types: str, region: str = REGION, now: datetime = NOW, has_time: bool = True) -> Question:
    """About ``types``."""
    return Question(tuple(map(instance_type, types)), region, now, lambda: has_time)


def product(name: str, *usd: str, sku: str = "JRTCKXETXF", effective: str = "2026-11-01T00:00:00Z", **more: str) -> str:
    """One product of GetProducts as the API gives it: JSON in a string, a term for each price."""
    terms = {
        f"{sku}.{index}": {
            "sku": sku,
            "effectiveDate": effective,
            "offerTermCode": "JRTCKXETXF",
            "termAttributes": {},
            "priceDimensions": {
                f"{sku}.{index}.6YS6EN2CT7": {
                    "unit": "Hrs",
                    "endRange": "Inf",
                    "beginRange": "0",
                    "appliesTo": [],
                    "description": f"${each} per On Demand Linux {name} Instance Hour",
                    "pricePerUnit": {"USD": each},
                }
            },
        }
        for index, each in enumerate(usd)
    }
    attributes = {"instanceType": name, "usagetype": f"USE2-BoxUsage:{name}", "regionCode": REGION, **more}
    body = {"productFamily": "Compute Instance", "attributes": attributes, "sku": sku}
    return json.dumps({"product": body, "serviceCode": "AmazonEC2", "terms": {"OnDemand": terms}})


def spot(name: str, zone: str, usd: str, hour: int = 5) -> dict[str, Any]:
    """One entry of DescribeSpotPriceHistory."""
    return {
        "AvailabilityZone": f"us-east-2{zone}",
        "AvailabilityZoneId": f"use2-az{'abc'.index(zone) + 1}",
        "InstanceType": name,
        "ProductDescription": "Linux/UNIX",
        "SpotPrice": usd,
        "Timestamp": NOW.replace(hour=hour, minute=0),
    }


def block(name: str, fee: str, instances: int = 1, hours: int = 24, minutes: int = 0) -> Any:
    """One entry of DescribeCapacityBlockOfferings."""
    return {
        "CapacityBlockOfferingId": "cbr-0123456789abcdefg",
        "InstanceType": name,
        "AvailabilityZone": "us-east-2a",
        "InstanceCount": instances,
        "StartDate": NOW,
        "EndDate": NOW,
        "CapacityBlockDurationHours": hours,
        "CapacityBlockDurationMinutes": minutes,
        "UpfrontFee": fee,
        "CurrencyCode": "USD",
        "Tenancy": "default",
    }


def plan_rate(name: str, usd: str, *, seconds: int = 31_536_000, usage: str = "BoxUsage") -> dict[str, Any]:
    """One entry of DescribeSavingsPlansOfferingRates."""
    return {
        "savingsPlanOffering": {
            "offeringId": "b6a2d1f0",
            "paymentOption": "No Upfront",
            "planType": "Compute",
            "durationSeconds": seconds,
            "currency": "USD",
            "planDescription": "1 year No Upfront Compute Savings Plan",
        },
        "rate": usd,
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"USE2-{usage}:{name}",
        "operation": "RunInstances",
        "properties": [{"name": "instanceType", "value": name}, {"name": "region", "value": REGION}],
    }


@dataclass
class Pricing:
    """GetProducts: pages of products by the type that is asked for."""

    pages: Mapping[str, list[list[str]]] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def get_products(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        wanted = {each["Field"]: each["Value"] for each in request["Filters"]}
        pages = self.pages.get(wanted.get("instanceType") or wanted["instanceName"], [[]])
        index = int(request.get("NextToken", 0))
        more = {"NextToken": str(index + 1)} if index + 1 < len(pages) else {}
        return {"FormatVersion": "aws_v1", "PriceList": pages[index], **more}


@dataclass
class Ec2:
    """Spot history in pages, and offers by type."""

    spot: list[list[dict[str, Any]]] = field(default_factory=lambda: [[]])
    blocks: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    def describe_spot_price_history(self, **request: Any) -> dict[str, Any]:
        index = int(request.get("NextToken", 0))
        more = {"NextToken": str(index + 1)} if index + 1 < len(self.spot) else {"NextToken": ""}
        return {"SpotPriceHistory": self.spot[index], **more}

    def describe_capacity_block_offerings(self, **request: Any) -> dict[str, Any]:
        return {"CapacityBlockOfferings": self.blocks.get(request["InstanceType"], [])}


@dataclass
class Plans:
    """Savings Plans rates in pages."""

    pages: list[list[dict[str, Any]]] = field(default_factory=lambda: [[]])

    def describe_savings_plans_offering_rates(self, **request: Any) -> dict[str, Any]:
        index = int(request.get("nextToken", 0))
        more = {"nextToken": str(index + 1)} if index + 1 < len(self.pages) else {}
        return {"searchResults": self.pages[index], **more}


@dataclass
class Kept:
    """The price table in memory."""

    records: dict[str, PriceRecord] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    refuses: str = ""

    def read(self) -> tuple[Mapping[str, PriceRecord], tuple[str, ...]]:
        return dict(self.records), self.problems

    def put(self, record: PriceRecord) -> None:
        if self.refuses and record.key.startswith(self.refuses):
            raise OSError("the table is full")
        self.records[record.key] = record


def dependencies(
    pricing: Pricing | None = None, ec2: Ec2 | None = None, plans: Plans | None = None, kept: Kept | None = None
) -> Dependencies:
    """The sources over these answers."""
    lists, compute = shaped("pricing", pricing or Pricing()), shaped("ec2", ec2 or Ec2())
    rates = shaped("savingsplans", plans or Plans())
    sources = (
        OnDemand(lists), SageMakerHosting(lists), Spot(compute), CapacityBlocks(compute), SavingsPlans(rates),
    )  # fmt: skip
    return Dependencies(sources, cast("PriceTable", kept or Kept()))
