"""Savings Plans: what an hour costs under a commitment without upfront payment, of one year and of three.

Kept for comparison; no fleet is counted at it, because whether a commitment covers a node is known to the bill alone.
Served from one global endpoint, signed for us-east-1 (Savings Plans API Reference, DescribeSavingsPlansOfferingRates).
"""

from typing import Any, Final

from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord
from lambdas.prices.asking import NotReadError, ask
from lambdas.prices.clients import SavingsPlansClient
from lambdas.prices.ports import Question, Reading

_PAGES: Final = 50
_PAYMENT: Final = "No Upfront"
_YEARS: Final = {31_536_000: 1, 94_608_000: 3}
_SOURCE: Final = "AWS Savings Plans"


class SavingsPlans:
    """Compute and EC2 Instance plans, Linux, shared tenancy."""

    name = "Savings Plans"
    kinds = frozenset({PriceKind.SAVINGS_PLAN.value})

    def __init__(self, client: SavingsPlansClient) -> None:
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

    def _entries(self, question: Question, names: list[str]) -> list[dict[str, Any]]:
        wanted = {
            "region": [question.region],
            "instanceType": names,
            "productDescription": ["Linux/UNIX"],
            "tenancy": ["shared"],
        }
        found: list[dict[str, Any]] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = ask(
                "savingsplans:DescribeSavingsPlansOfferingRates",
                question,
                self._client.describe_savings_plans_offering_rates,
                savingsPlanTypes=["Compute", "EC2Instance"],
                savingsPlanPaymentOptions=[_PAYMENT],
                products=["EC2"],
                serviceCodes=["AmazonEC2"],
                filters=[{"name": name, "values": values} for name, values in wanted.items()],
                maxResults=1000,
                **more,
            )
            found += page.get("searchResults", [])
            if not page.get("nextToken"):
                return found
            more = {"nextToken": page["nextToken"]}
        raise NotReadError(f"savingsplans:DescribeSavingsPlansOfferingRates: more than {_PAGES} pages")

    @staticmethod
    def _take(
        question: Question, entry: dict[str, Any], found: dict[str, PriceRecord], problems: dict[str, str]
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
