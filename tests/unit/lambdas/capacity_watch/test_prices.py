"""Prices out of the table, in as few calls as it takes, and never a wrong one."""

from typing import Any

import pytest

from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord, to_item
from lambdas.capacity_watch import prices
from tests.support.client_shapes import shaped
from tests.support.watched_capacity import block_place, place

TABLE = "neuron-fleet-prod-prices"
BLOCK = Price(PriceKind.CAPACITY_BLOCK, 35.7608, "us-east-2", "2026-11-22", "EC2 Capacity Block offers", "x")
RECORD = PriceRecord("trn2.48xlarge", BLOCK, "2026-11-22T05:17:00Z")


class Table:
    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers, self.asked = list(answers), []  # type: list[dict[str, Any]], list[Any]

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request["RequestItems"])
        return self.answers.pop(0)


def item(**changes: str) -> dict[str, Any]:
    return {field: {"S": text} for field, text in (to_item(RECORD) | changes).items()}


def test_each_type_and_market_is_asked_for_once() -> None:
    table = Table({"Responses": {TABLE: [item()]}})

    assert prices.read(shaped("dynamodb", table), TABLE, (block_place(), block_place(), place())) == {
        "trn2.48xlarge": (BLOCK,)
    }
    keys = ("us-east-2/trn1.32xlarge/on-demand", "us-east-2/trn2.48xlarge/capacity-block")
    assert table.asked == [{TABLE: {"Keys": [{"id": {"S": key}} for key in keys]}}]


def test_what_was_left_over_is_asked_for_again_and_not_for_ever() -> None:
    left = {TABLE: {"Keys": [{"id": {"S": "us-east-2/trn2.48xlarge/capacity-block"}}]}}
    table = Table({"Responses": {}, "UnprocessedKeys": left}, {"Responses": {TABLE: [item()]}, "UnprocessedKeys": {}})

    assert prices.read(shaped("dynamodb", table), TABLE, (block_place(),)) == {"trn2.48xlarge": (BLOCK,)}
    assert table.asked[1] == left
    with pytest.raises(LookupError, match="did not answer for all"):
        prices.read(shaped("dynamodb", Table(*[{"UnprocessedKeys": left}] * 3)), TABLE, (block_place(),))


def test_an_item_that_is_no_price_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match="capacity-block: usd_per_hour is 0"):
        prices.read(
            shaped("dynamodb", Table({"Responses": {TABLE: [item(usd_per_hour="0")]}})), TABLE, (block_place(),)
        )
