"""The engine's table and EC2, with the answers that AWS documents."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.stub import ANY, Stubber

from fleet.blocks import purchase
from fleet.blocks.life import Block
from lambdas.capacity_blocks.market import REQUEST_TAG, Ec2Market, PurchaseRefusedError, PurchaseUnansweredError
from lambdas.capacity_blocks.request_table import ConflictError, Record, RequestTable
from tests.support import block_world
from tests.support.block_world import APPROVER, BEGIN
from tests.support.client_shapes import shaped

ASKED = block_world.request(BEGIN + timedelta(hours=2), 24)
APPROVED = purchase.approve(ASKED, APPROVER, {APPROVER}, BEGIN)
RESERVATION = {
    "CapacityReservationId": "cr-0123456789abcdef0",
    "State": "active",
    "TotalInstanceCount": 2,
    "StartDate": ASKED.offering.start,
    "EndDate": ASKED.offering.end,
}


class MemoryTable:
    """DynamoDB as far as the store uses it."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}

    def put_item(self, **request: Any) -> dict[str, Any]:
        self.items[request["Item"]["id"]["S"]] = request["Item"]
        return {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        item = self.items.get(request["Key"]["id"]["S"])
        return {"Item": item} if item else {}

    def scan(self, **request: Any) -> dict[str, Any]:
        names = sorted(self.items)
        first = names.index(request["ExclusiveStartKey"]["id"]["S"]) + 1 if "ExclusiveStartKey" in request else 0
        page = [self.items[name] for name in names[first : first + 1] if self.items[name]["is_open"]["BOOL"]]
        more = {"LastEvaluatedKey": {"id": {"S": names[first]}}} if first + 1 < len(names) else {}
        return {"Items": page, **more}


def test_a_record_comes_back_as_it_was_stored_one_version_on() -> None:
    table = RequestTable(shaped("dynamodb", MemoryTable()), "requests")

    stored = table.write(Record(APPROVED, frozenset({"drain@x", "stop@x"}), 3))

    assert stored == Record(APPROVED, frozenset({"drain@x", "stop@x"}), 4)
    assert table.read("r1") == stored
    assert table.read("r2") is None


def test_every_page_of_open_requests_is_read_and_ended_ones_are_not() -> None:
    table = RequestTable(shaped("dynamodb", MemoryTable()), "requests")
    for number in range(3):
        table.write(Record(replace(ASKED, request_id=f"r{number}")))
    table.write(Record(purchase.reject(replace(ASKED, request_id="r1"), "x"), version=1))

    assert [record.request.request_id for record in table.open()] == ["r0", "r2"]


def test_a_change_by_somebody_else_is_not_overwritten(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    client, stubber = stubbed("dynamodb")
    stubber.add_client_error(
        "put_item",
        "ConditionalCheckFailedException",
        expected_params={
            "TableName": "requests",
            "Item": ANY,
            "ConditionExpression": "attribute_not_exists(id) OR version = :read",
            "ExpressionAttributeValues": {":read": {"N": "3"}},
        },
    )

    with pytest.raises(ConflictError):
        RequestTable(client, "requests").write(Record(ASKED, version=3))


def test_a_purchase_carries_the_request_in_its_tag(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    client, stubber = stubbed("ec2")
    tags = [{"Key": REQUEST_TAG, "Value": "r1"}, {"Key": "fleet", "Value": "frontier"}]
    stubber.add_response(
        "purchase_capacity_block",
        {"CapacityReservation": RESERVATION},
        {
            "CapacityBlockOfferingId": "cbo-1",
            "InstancePlatform": "Linux/UNIX",
            "TagSpecifications": [{"ResourceType": "capacity-reservation", "Tags": tags}],
        },
    )

    assert Ec2Market(client, client).purchase(APPROVED) == "cr-0123456789abcdef0"


@pytest.mark.parametrize(("status", "raised"), [(400, PurchaseRefusedError), (503, PurchaseUnansweredError)])
def test_only_a_refusal_is_a_refusal(
    stubbed: Callable[[str], tuple[Any, Stubber]], status: int, raised: type[Exception]
) -> None:
    client, stubber = stubbed("ec2")
    stubber.add_client_error("purchase_capacity_block", "Unavailable", "no", http_status_code=status)

    with pytest.raises(raised):
        Ec2Market(client, client).purchase(APPROVED)


def test_a_purchase_that_times_out_is_unanswered() -> None:
    class Silent:
        def purchase_capacity_block(self, **_: object) -> dict[str, Any]:
            raise ReadTimeoutError(endpoint_url="ec2")

    with pytest.raises(PurchaseUnansweredError):
        Ec2Market(shaped("ec2", Silent()), shaped("ec2", Silent())).purchase(APPROVED)


def test_a_block_is_as_ec2_describes_it(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    client, stubber = stubbed("ec2")
    for state in ("scheduled", "active", "payment-failed"):
        stubber.add_response(
            "describe_capacity_reservations", {"CapacityReservations": [RESERVATION | {"State": state}]}
        )
    stubber.add_client_error("describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")
    market = Ec2Market(client, client)

    scheduled, active, failed, unknown = [market.block("cr-0123456789abcdef0", "frontier") for _ in range(4)]

    expected = Block("cr-0123456789abcdef0", "frontier", 2, ASKED.offering.start, ASKED.offering.end, True)
    assert scheduled == replace(expected, is_delivered=False)
    assert active == expected
    assert failed is None
    assert unknown is None


def test_only_extensions_that_were_paid_for_count(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    client, stubber = stubbed("ec2")
    end = ASKED.offering.end
    first, second, refused = (
        {
            "CapacityBlockExtensionOfferingId": f"cbe-{number}",
            "InstanceType": "trn2.48xlarge",
            "InstanceCount": 2,
            "AvailabilityZone": "us-east-2a",
            "CapacityBlockExtensionStatus": status,
            "CapacityBlockExtensionStartDate": end + timedelta(days=number - 1),
            "CapacityBlockExtensionEndDate": end + timedelta(days=number),
            "UpfrontFee": "1800.50",
        }
        for number, status in ((1, "payment-succeeded"), (2, "payment-succeeded"), (3, "payment-failed"))
    )
    stubber.add_response(
        "describe_capacity_block_extension_history",
        {"CapacityBlockExtensions": [refused, second, first]},
        {"CapacityReservationIds": ["cr-0123456789abcdef0"]},
    )

    extensions = Ec2Market(client, client).extended("cr-0123456789abcdef0")

    assert [(each.offering_id, each.fee_usd) for each in extensions] == [("cbe-1", 1800.5), ("cbe-2", 1800.5)]
