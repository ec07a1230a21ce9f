"""Capacity Blocks in EC2: bought at most once, found by the tag that every purchase carries.

PurchaseCapacityBlock has no client token. So its client must not repeat a call (``adapters`` makes it so), and only an
answer that says that the request was refused counts as a refusal.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from fleet.blocks.life import Block
from fleet.blocks.offering import Offering, Search, from_ec2
from fleet.blocks.purchase import Request

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import (
        CapacityBlockExtensionOfferingTypeDef,
        CapacityBlockExtensionTypeDef,
        DescribeCapacityBlockOfferingsRequestPaginateTypeDef,
        FilterTypeDef,
        TagTypeDef,
    )

REQUEST_TAG: Final = "neuron-fleet:capacity-request"
EXTENSION: Final = timedelta(days=1)
_FIRST_SERVER_ERROR: Final = 500
_USABLE: Final = "active"
_PAID: Final = "payment-succeeded"
# States in which EC2 still shows a reservation that will not come, or not come back.
_GONE: Final = frozenset({"cancelled", "failed", "payment-failed", "unsupported"})


class PurchaseRefusedError(Exception):
    """EC2 said no: nothing was bought. The message is EC2's."""


class PurchaseUnansweredError(Exception):
    """No answer, or one that does not say what happened: something may have been bought."""


class Ec2Market:
    """``buyer`` makes purchases, ``reader`` everything else."""

    def __init__(self, buyer: "EC2Client", reader: "EC2Client") -> None:
        self._buyer, self._reader = buyer, reader

    def purchase(self, request: Request) -> str:
        """Buy the offer, tagged with the request's id; the reservation's id.

        Raises:
            PurchaseRefusedError: nothing was bought.
            PurchaseUnansweredError: it is not known.
        """
        tags: list[TagTypeDef] = [
            {"Key": REQUEST_TAG, "Value": request.request_id},
            {"Key": "fleet", "Value": request.fleet},
        ]
        try:
            answer = self._buyer.purchase_capacity_block(
                CapacityBlockOfferingId=request.offering.offering_id,
                InstancePlatform="Linux/UNIX",
                TagSpecifications=[{"ResourceType": "capacity-reservation", "Tags": tags}],
            )
            return answer["CapacityReservation"]["CapacityReservationId"]
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", _FIRST_SERVER_ERROR)
            if status < _FIRST_SERVER_ERROR:
                raise PurchaseRefusedError(str(error)) from error
            raise PurchaseUnansweredError(str(error)) from error
        except (BotoCoreError, KeyError) as error:
            raise PurchaseUnansweredError(str(error)) from error

    def find(self, request_id: str) -> str | None:
        """The reservation that carries the request's tag, in whatever state."""
        of_request: FilterTypeDef = {"Name": f"tag:{REQUEST_TAG}", "Values": [request_id]}
        found = self._reader.describe_capacity_reservations(Filters=[of_request])["CapacityReservations"]
        return found[0]["CapacityReservationId"] if found else None

    def block(self, reservation_id: str, fleet: str) -> Block | None:
        """The block as EC2 describes it now; None when EC2 does not show it."""
        try:
            answer = self._reader.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "InvalidCapacityReservationId.NotFound":
                raise
            return None
        entry = next(iter(answer["CapacityReservations"]), None)
        if entry is None or entry["State"] in _GONE:
            return None
        return Block(
            reservation_id=reservation_id,
            fleet=fleet,
            instances=entry["TotalInstanceCount"],
            start=entry["StartDate"],
            end=entry["EndDate"],
            is_delivered=entry["State"] == _USABLE,
        )

    def offering(self, search: Search, offering_id: str) -> Offering | None:
        """The offer as EC2 describes it now: what a person approves must not rest on what another person typed."""
        asked = cast("DescribeCapacityBlockOfferingsRequestPaginateTypeDef", search.parameters())
        pages = self._reader.get_paginator("describe_capacity_block_offerings").paginate(**asked)
        offers = (entry for page in pages for entry in page.get("CapacityBlockOfferings", []))
        found = next((entry for entry in offers if entry["CapacityBlockOfferingId"] == offering_id), None)
        return from_ec2(found) if found else None

    def extensions(self, reservation_id: str) -> tuple[Offering, ...]:
        """What EC2 offers to extend it by one day."""
        answer = self._reader.describe_capacity_block_extension_offerings(
            CapacityBlockExtensionDurationHours=int(EXTENSION / timedelta(hours=1)),
            CapacityReservationId=reservation_id,
        )
        return tuple(map(_extension, answer.get("CapacityBlockExtensionOfferings", [])))

    def extended(self, reservation_id: str) -> tuple[Offering, ...]:
        """The extensions that were paid for, whoever bought them, in the order of time."""
        answer = self._reader.describe_capacity_block_extension_history(CapacityReservationIds=[reservation_id])
        paid = (each for each in answer["CapacityBlockExtensions"] if each["CapacityBlockExtensionStatus"] == _PAID)
        return tuple(sorted(map(_extension, paid), key=lambda extension: extension.start))


def _extension(entry: "CapacityBlockExtensionOfferingTypeDef | CapacityBlockExtensionTypeDef") -> Offering:
    return Offering(
        offering_id=entry["CapacityBlockExtensionOfferingId"],
        instance_type=entry["InstanceType"],
        instances=entry["InstanceCount"],
        availability_zone=entry["AvailabilityZone"],
        start=entry["CapacityBlockExtensionStartDate"],
        end=entry["CapacityBlockExtensionEndDate"],
        fee_usd=float(entry["UpfrontFee"]),
    )
