"""Capacity Blocks as EC2 offers them: the fee in advance, by instance and hour.

``UpfrontFee`` is for all instances and hours of an offer (EC2 API Reference, CapacityBlockOffering).
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from fleet.instances import InstanceType, Price, PriceKind
from lambdas.prices.source import NotReadError, Question, Reading, one_by_one, pages

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import CapacityBlockOfferingTypeDef

_PAGES: Final = 10
# What people look for: one instance for a day, within the eight weeks that EC2 sells ahead.
_HOURS: Final = 24
_AHEAD: Final = timedelta(weeks=8)
_SOURCE: Final = "EC2 Capacity Block offers"


class CapacityBlocks:
    """The dearest offer of each type, so that waste is not understated; nothing is bought."""

    name = "Capacity Blocks"
    kinds = frozenset({PriceKind.CAPACITY_BLOCK.value})

    def __init__(self, client: "EC2Client") -> None:
        self._client = client

    def read(self, question: Question) -> Reading:
        """One price of each type that the region sells as a block, or the reason why there is none."""
        sold = [known for known in question.types if question.region in known.capacity_block_regions]
        absent = f"EC2 offers no Capacity Block of it in {question.region} now"
        return one_by_one(question, sold, lambda known: self._price(question, known), absent)

    def _price(self, question: Question, known: InstanceType) -> Price | None:
        rates = [rate for entry in self._offers(question, known) if (rate := usd_per_hour(entry)) is not None]
        if not rates:
            return None
        said = f"ec2:DescribeCapacityBlockOfferings, the dearest of {len(rates)} offers of {_HOURS} h"
        return Price(PriceKind.CAPACITY_BLOCK, max(rates), question.region, question.today, _SOURCE, said)

    def _offers(self, question: Question, known: InstanceType) -> "list[CapacityBlockOfferingTypeDef]":
        asked = self._client.get_paginator("describe_capacity_block_offerings").paginate(
            InstanceType=known.name,
            InstanceCount=1,
            CapacityDurationHours=_HOURS,
            StartDateRange=question.now,
            EndDateRange=question.now + _AHEAD,
        )
        found = pages("ec2:DescribeCapacityBlockOfferings", question, asked, _PAGES)
        return [entry for page in found for entry in page.get("CapacityBlockOfferings", [])]


def usd_per_hour(entry: "CapacityBlockOfferingTypeDef") -> float | None:
    """USD per instance-hour of an offer; None for one without a fee, which is no price.

    Raises:
        NotReadError: the offer is not in USD, or has no instances or hours.
    """
    if entry.get("CurrencyCode", "USD") != "USD":
        raise NotReadError(f"a Capacity Block offer is not in USD but in {entry['CurrencyCode']}")
    try:
        # Minutes are given for what goes beyond whole hours.
        hours = entry["CapacityBlockDurationHours"] + entry.get("CapacityBlockDurationMinutes", 0) / 60
        usd = float(entry["UpfrontFee"]) / entry["InstanceCount"] / hours
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise NotReadError(f"a Capacity Block offer cannot be read ({type(error).__name__}: {error})") from error
    return round(usd, 6) if 0 < usd < float("inf") else None
