"""The AWS Price List, over pricing:GetProducts: on-demand EC2, and SageMaker hosting.

Its answer is JSON inside strings. Without ``marketoption=OnDemand`` it holds Capacity Block products too, whose price
is $0.00; a zero is no price either way (Karpenter's pricing provider drops them as well). It is served from us-east-1,
ap-south-1 and eu-central-1 only. Source: AWS Price List API Reference, GetProducts.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from fleet.hosting.sizes import hosted_type
from fleet.instances import InstanceType, Price, PriceKind
from lambdas.prices.source import NotReadError, Question, Reading, one_by_one, pages

if TYPE_CHECKING:
    from mypy_boto3_pricing import PricingClient
    from mypy_boto3_pricing.type_defs import FilterTypeDef

_PAGES: Final = 20
_SOURCE: Final = "AWS Price List"


class OnDemand:
    """Linux, shared tenancy."""

    name = "on-demand"
    kinds = frozenset({PriceKind.ON_DEMAND.value})

    def __init__(self, client: "PricingClient") -> None:
        self._client = client

    def read(self, question: Question) -> Reading:
        """One price of each type, or the reason why there is none."""
        return _read(self._client, question, PriceKind.ON_DEMAND, "AmazonEC2", self._filters)

    @staticmethod
    def _filters(known: InstanceType, region: str) -> Mapping[str, str] | None:
        return {
            "regionCode": region,
            "instanceType": known.name,
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "tenancy": "Shared",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
            "productFamily": "Compute Instance",
        }


class SageMakerHosting:
    """Endpoints on inf2, the family that SageMaker sells beside ours; with SageMaker's surcharge."""

    name = "SageMaker hosting"
    kinds = frozenset({PriceKind.SAGEMAKER_HOSTING.value})

    def __init__(self, client: "PricingClient") -> None:
        self._client = client

    def read(self, question: Question) -> Reading:
        """One price of each inf2 type, or the reason why there is none."""
        return _read(self._client, question, PriceKind.SAGEMAKER_HOSTING, "AmazonSageMaker", self._filters)

    @staticmethod
    def _filters(known: InstanceType, region: str) -> Mapping[str, str] | None:
        if hosted_type(known.name) is None:
            return None
        return {
            "regionCode": region,
            "instanceName": f"ml.{known.name}",
            "component": "Hosting",
            "productFamily": "ML Instance",
        }


def _read(
    client: "PricingClient",
    question: Question,
    kind: PriceKind,
    service: str,
    filters_of: Callable[[InstanceType, str], Mapping[str, str] | None],
) -> Reading:
    asked = ((known.name, filters_of(known, question.region)) for known in question.types)
    filters = {name: found for name, found in asked if found is not None}
    sold = [known for known in question.types if known.name in filters]

    def price(known: InstanceType) -> Price | None:
        return price_of(_products(client, question, service, filters[known.name]), kind, question)

    return one_by_one(question, sold, price, f"AWS lists no {kind} price of it in {question.region}")


def _products(client: "PricingClient", question: Question, service: str, filters: Mapping[str, str]) -> Iterator[str]:
    terms: list[FilterTypeDef] = [
        {"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()
    ]
    asked = client.get_paginator("get_products").paginate(ServiceCode=service, Filters=terms, FormatVersion="aws_v1")
    for page in pages("pricing:GetProducts", question, asked, _PAGES):
        products = page.get("PriceList", [])
        if not isinstance(products, list):
            raise NotReadError("pricing:GetProducts: PriceList is not a list")
        yield from products


def price_of(products: Iterator[str], kind: PriceKind, question: Question) -> Price | None:
    """The one price above zero that is in force; None without any.

    Raises:
        NotReadError: an entry is not what the API documents, or there are several different prices.
    """
    seen: dict[float, str] = {}
    for text in products:
        for usd, said in _prices(_decoded(text), question.now):
            seen.setdefault(usd, said)
    if not seen:
        return None
    if len(seen) > 1:
        listed = ", ".join(f"{usd:g}" for usd in sorted(seen))
        raise NotReadError(f"the price list has several prices that match: {listed}")
    ((usd, said),) = seen.items()
    return Price(kind, usd, question.region, question.today, _SOURCE, f"pricing:GetProducts, {said}")


def _decoded(text: object) -> Mapping[str, Any]:
    try:
        product = json.loads(str(text))
        product["terms"].get("OnDemand", {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotReadError(f"an entry of the price list is no product ({type(error).__name__})") from error
    found: Mapping[str, Any] = product
    return found


def _prices(product: Mapping[str, Any], now: datetime) -> Iterator[tuple[float, str]]:
    """USD an hour of the newest terms in force, and what they are known by. Zeros are left out."""
    try:
        terms = [term for term in product["terms"].get("OnDemand", {}).values() if _in_force(term, now)]
        newest = max((term["effectiveDate"] for term in terms), default=None)
        for term in terms:
            if term["effectiveDate"] != newest:
                continue
            for dimension in term["priceDimensions"].values():
                usd = float(dimension["pricePerUnit"]["USD"])
                if dimension.get("unit", "Hrs") in ("Hrs", "Hr", "hours") and 0 < usd < float("inf"):
                    yield usd, f"sku {product['product'].get('sku', '?')}, effective {newest}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise NotReadError(f"a product of the price list has no price in USD ({what})") from error


def _in_force(term: Mapping[str, Any], now: datetime) -> bool:
    return datetime.fromisoformat(term["effectiveDate"]) <= now
