"""Capacity Blocks in EC2: bought at most once, found by the tag that every purchase carries.

PurchaseCapacityBlock has no client token. So its client must not repeat a call (``adapters`` makes it so), and only an
answer that says that the request was refused counts as a refusal.
"""

from datetime import timedelta
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from fleet.blocks.life import Block
from fleet.blocks.offering import Offering, Search, from_ec2
from fleet.blocks.purchase import Request
from lambdas.capacity_blocks.clients import Ec2Client
from lambdas.capacity_blocks.ports import PurchaseRefusedError, PurchaseUnansweredError

REQUEST_TAG: Final = "neuron-fleet:capacity-request"
EXTENSION: Final = timedelta(days=1)
_FIRST_SERVER_ERROR: Final = 500
_PAGES: Final = 20
_USABLE: Final = "active"
_PAID: Final = "payment-succeeded"
# States in which EC2 still shows a reservation that will not come, or not come back.
_GONE: Final = frozenset({"cancelled", "failed", "payment-failed", "unsupported"})


class Ec2Market:
    """``buyer`` makes purchases, ``reader`` everything else."""

    def __init__(self, buyer: Ec2Client, reader: Ec2Client) -> None:
        self._buyer, self._reader = buyer, reader

    def purchase(self, request: Request) -> str:
        """Buy the offer; the reservation's id."""
        tags = [{"Key": REQUEST_TAG, "Value": request.request_id}, {"Key": "fleet", "Value": request.fleet}]
        try:
            answer = self._buyer.purchase_capacity_block(
                CapacityBlockOfferingId=request.offering.offering_id,
                InstancePlatform="Linux/UNIX",
                TagSpecifications=[{"ResourceType": "capacity-reservation", "Tags": tags}],
            )
            return str(answer["CapacityReservation"]["CapacityReservationId"])
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", _FIRST_SERVER_ERROR)
            if status < _FIRST_SERVER_ERROR:
                raise PurchaseRefusedError(str(error)) from error
            raise PurchaseUnansweredError(str(error)) from error
        except (BotoCoreError, KeyError) as error:
            raise PurchaseUnansweredError(str(error)) from error

    def find(self, request_id: str) -> str | None:
        """The reservation that carries the request's tag, in whatever state."""
        found = self._reservations(Filters=[{"Name": f"tag:{REQUEST_TAG}", "Values": [request_id]}])
        return str(found[0]["CapacityReservationId"]) if found else None

    def block(self, reservation_id: str, fleet: str) -> Block | None:
        """The block as EC2 describes it."""
        try:
            found = self._reservations(CapacityReservationIds=[reservation_id])
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "InvalidCapacityReservationId.NotFound":
                raise
            return None
        if not found or found[0]["State"] in _GONE:
            return None
        entry = found[0]
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
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            answer = self._reader.describe_capacity_block_offerings(**search.parameters(), **more)
            for entry in answer.get("CapacityBlockOfferings", []):
                if entry["CapacityBlockOfferingId"] == offering_id:
                    return from_ec2(entry)
            if not answer.get("NextToken"):
                break
            more = {"NextToken": answer["NextToken"]}
        return None

    def extensions(self, reservation_id: str) -> tuple[Offering, ...]:
        """What EC2 offers to extend it by one day."""
        answer = self._reader.describe_capacity_block_extension_offerings(
            CapacityBlockExtensionDurationHours=int(EXTENSION / timedelta(hours=1)),
            CapacityReservationId=reservation_id,
        )
        return tuple(map(_extension, answer.get("CapacityBlockExtensionOfferings", [])))

    def extended(self, reservation_id: str) -> tuple[Offering, ...]:
        """The extensions that were paid for, in the order of time."""
        answer = self._reader.describe_capacity_block_extension_history(CapacityReservationIds=[reservation_id])
        paid = (each for each in answer["CapacityBlockExtensions"] if each["CapacityBlockExtensionStatus"] == _PAID)
        return tuple(sorted(map(_extension, paid), key=lambda extension: extension.start))

    def _reservations(self, **what: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._reader.describe_capacity_reservations(**what)["CapacityReservations"]
        return found


def _extension(entry: dict[str, Any]) -> Offering:
    return Offering(
        offering_id=entry["CapacityBlockExtensionOfferingId"],
        instance_type=entry["InstanceType"],
        instances=entry["InstanceCount"],
        availability_zone=entry["AvailabilityZone"],
        start=entry["CapacityBlockExtensionStartDate"],
        end=entry["CapacityBlockExtensionEndDate"],
        fee_usd=float(entry["UpfrontFee"]),
    )
