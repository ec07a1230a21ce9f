"""Savings Plans: what an hour costs under a commitment without upfront payment, of one year and of three.

Kept for comparison; no fleet is counted at it, because whether a commitment covers a node is known to the bill alone.
Served from one global endpoint, signed for us-east-1 (Savings Plans API Reference, DescribeSavingsPlansOfferingRates).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord
from lambdas.prices.source import NotReadError, Question, Reading, pages

if TYPE_CHECKING:
    from mypy_boto3_savingsplans import SavingsPlansClient
    from mypy_boto3_savingsplans.type_defs import (
        DescribeSavingsPlansOfferingRatesRequestTypeDef,
        DescribeSavingsPlansOfferingRatesResponseTypeDef,
        SavingsPlanOfferingRateFilterElementTypeDef,
        SavingsPlanOfferingRateTypeDef,
    )

_PAGES: Final = 50
_PAYMENT: Final = "No Upfront"
_YEARS: Final = {31_536_000: 1, 94_608_000: 3}
_SOURCE: Final = "AWS Savings Plans"


class SavingsPlans:
    """Compute and EC2 Instance plans, Linux, shared tenancy."""

    name = "Savings Plans"
    kinds = frozenset({PriceKind.SAVINGS_PLAN.value})

    def __init__(self, client: "SavingsPlansClient") -> None:
        self._client = client

    def read(self, question: Question) -> Reading:
        """The rates of each type by plan and years."""
        names = [known.name for known in question.types]
        found: dict[str, PriceRecord] = {}
        problems: dict[str, str] = {}
        try:
            for entry in self._entries(question, names):
                self._take(question, entry, found, problems)
        except NotReadError as error:
            return Reading(problems=(("", str(error)),))
        having = {record.instance_type for record in found.values()}
        absent = [(name, f"no Savings Plan covers it in {question.region}") for name in names if name not in having]
        return Reading(tuple(found.values()), tuple(problems.items()), tuple(absent))

    def _entries(self, question: Question, names: list[str]) -> "Iterator[SavingsPlanOfferingRateTypeDef]":
        for page in pages(
            "savingsplans:DescribeSavingsPlansOfferingRates", question, self._asked(question, names), _PAGES
        ):
            yield from page.get("searchResults", [])

    def _asked(
        self, question: Question, names: list[str]
    ) -> "Iterator[DescribeSavingsPlansOfferingRatesResponseTypeDef]":
        wanted: list[SavingsPlanOfferingRateFilterElementTypeDef] = [
            {"name": "region", "values": [question.region]},
            {"name": "instanceType", "values": names},
            {"name": "productDescription", "values": ["Linux/UNIX"]},
            {"name": "tenancy", "values": ["shared"]},
        ]
        request: DescribeSavingsPlansOfferingRatesRequestTypeDef = {
            "savingsPlanTypes": ["Compute", "EC2Instance"],
            "savingsPlanPaymentOptions": [_PAYMENT],
            "products": ["EC2"],
            "serviceCodes": ["AmazonEC2"],
            "filters": wanted,
            "maxResults": 1000,
        }
        # boto3 has no paginator for it.
        while True:
            page = self._client.describe_savings_plans_offering_rates(**request)
            yield page
            if not page.get("nextToken"):
                return
            request["nextToken"] = page["nextToken"]

    @staticmethod
    def _take(
        question: Question,
        entry: "SavingsPlanOfferingRateTypeDef",
        found: dict[str, PriceRecord],
        problems: dict[str, str],
    ) -> None:
        name = ""
        try:
            properties = {each["name"]: each["value"] for each in entry["properties"]}
            name = properties["instanceType"]
            offering, usd = entry["savingsPlanOffering"], float(entry["rate"])
            years = _YEARS.get(offering["durationSeconds"])
            # UnusedBox and UnusedDed are the hours of reservations that nothing runs on, at prices of their own.
            is_use = entry["usageType"].rpartition("-")[2].startswith("BoxUsage:")
            in_usd = offering.get("currency", "USD") == "USD" and entry.get("unit", "Hrs") == "Hrs"
            plan = offering["planType"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problems[name] = f"a Savings Plans rate cannot be read ({type(error).__name__}: {error})"
            return
        if years is None or not is_use or not in_usd or not 0 < usd < float("inf"):
            return
        terms = f"{plan}, {years} y, {_PAYMENT}"
        said = f"savingsplans:DescribeSavingsPlansOfferingRates, {terms}, {entry['usageType']}"
        price = Price(PriceKind.SAVINGS_PLAN, usd, question.region, question.today, f"{_SOURCE}, {terms}", said)
        record = PriceRecord(name, price, question.read_at, terms)
        found[record.key] = record
