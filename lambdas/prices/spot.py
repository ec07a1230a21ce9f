"""Spot prices by zone, over ec2:DescribeSpotPriceHistory.

A start that is now gives the prices in force, the newest of each type and zone (EC2 API Reference). A price without
capacity is common: it says what an hour would cost, not that there is one.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord
from lambdas.prices.source import NotReadError, Question, Reading, pages

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.literals import InstanceTypeType
    from mypy_boto3_ec2.type_defs import SpotPriceTypeDef

_PAGES: Final = 50
_SOURCE: Final = "EC2 Spot prices"


class Spot:
    """Linux."""

    name = "Spot"
    kinds = frozenset({PriceKind.SPOT.value})

    def __init__(self, client: "EC2Client") -> None:
        self._client = client

    def read(self, question: Question) -> Reading:
        """One price for each type and zone, and the dearest of them as the region's."""
        types = [known.name for known in question.types if PriceKind.SPOT.value in known.usage_classes]
        if not types:
            return Reading()
        newest: dict[tuple[str, str], tuple[datetime, float]] = {}
        problems: dict[str, str] = {}
        try:
            for entry in self._entries(question, types):
                _take(entry, newest, problems)
        except NotReadError as error:
            # What came before it may lack the newest price of a zone, or the dearest zone.
            return Reading(problems=(("", str(error)),))
        found: list[PriceRecord] = []
        for name in types:
            of_type = {zone: usd for (of, zone), (_, usd) in newest.items() if of == name}
            if name not in problems and of_type:
                found += _records(question, name, of_type)
        absent = [
            (name, f"EC2 shows no Spot price of it in {question.region}")
            for name in types
            if name not in problems and not any(of == name for of, _ in newest)
        ]
        return Reading(tuple(found), tuple(problems.items()), tuple(absent))

    def _entries(self, question: Question, types: list[str]) -> "Iterator[SpotPriceTypeDef]":
        asked = self._client.get_paginator("describe_spot_price_history").paginate(
            # EC2 takes any name, its model those of one day.
            InstanceTypes=cast("list[InstanceTypeType]", types),
            ProductDescriptions=["Linux/UNIX"],
            StartTime=question.now,
        )
        for page in pages("ec2:DescribeSpotPriceHistory", question, asked, _PAGES):
            yield from page.get("SpotPriceHistory", [])


def _take(
    entry: "SpotPriceTypeDef", newest: dict[tuple[str, str], tuple[datetime, float]], problems: dict[str, str]
) -> None:
    name = str(entry.get("InstanceType", ""))
    try:
        zone = str(entry.get("AvailabilityZoneId") or entry["AvailabilityZone"])
        usd, at = float(entry["SpotPrice"]), entry["Timestamp"]
    except (KeyError, TypeError, ValueError) as error:
        problems[name] = f"a Spot price cannot be read ({type(error).__name__}: {error})"
        return
    if not 0 < usd < float("inf"):
        return
    if (name, zone) not in newest or at > newest[name, zone][0]:
        newest[name, zone] = (at, usd)


def _records(question: Question, name: str, by_zone: dict[str, float]) -> list[PriceRecord]:
    def record(zone: str, detail: str) -> PriceRecord:
        place = f"{question.region} ({zone})"
        said = f"ec2:DescribeSpotPriceHistory, Linux/UNIX, {zone}"
        price = Price(PriceKind.SPOT, by_zone[zone], place, question.today, _SOURCE, said)
        return PriceRecord(name, price, question.read_at, detail)

    dearest = max(by_zone, key=lambda zone: (by_zone[zone], zone))
    return [record(dearest, ""), *(record(zone, zone) for zone in sorted(by_zone))]
