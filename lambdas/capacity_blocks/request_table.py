"""Requests in one DynamoDB table, an item each. Who writes says which version was read, so no change is overwritten.

The table is small, a few requests a week, and ended ones expire: a scan reads all that is open.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.blocks.life import Step
from fleet.blocks.purchase import Request, Status

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, ScanOutputTypeDef

_ENDED: Final = frozenset({Status.REJECTED, Status.LAPSED, Status.FAILED})
# How long an ended request can still be looked up.
KEPT: Final = timedelta(days=400)
_REQUEST: Final = TypeAdapter(Request)


class ConflictError(Exception):
    """Somebody else stored the record since it was read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A request as it is stored. ``done`` are keys of ``fleet.blocks.life.key``; ``version`` counts its changes."""

    request: Request
    done: frozenset[str] = frozenset()
    version: int = 0

    @property
    def is_accounted(self) -> bool:
        """Whether its block is over and accounted for: nothing is left to do."""
        return any(step.startswith(f"{Step.POST_MORTEM}@") for step in self.done)


class RequestTable:
    """The requests of one environment."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    def open(self) -> Iterator[Record]:
        """Every record that has not ended; a block that was bought stays open until it is accounted for."""
        scan = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._table,
            ConsistentRead=True,
            FilterExpression="is_open = :yes",
            ExpressionAttributeValues={":yes": {"BOOL": True}},
        )
        return _records(scan)

    def all(self) -> Iterator[Record]:
        """Every record that has not expired."""
        return _records(self._dynamodb.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True))

    def read(self, request_id: str) -> Record | None:
        """One record."""
        answer = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": request_id}}, ConsistentRead=True)
        return _record(answer["Item"]) if answer.get("Item") else None

    def write(self, record: Record) -> Record:
        """Store over the version that was read; the stored one, with its new version.

        Raises:
            ConflictError: that is no longer the one.
        """
        request, version = record.request, record.version + 1
        item: dict[str, AttributeValueTypeDef] = {
            "id": {"S": request.request_id},
            "version": {"N": str(version)},
            "is_open": {"BOOL": request.status not in _ENDED and not record.is_accounted},
            "done": {"S": "\n".join(sorted(record.done))},
            "request": {"S": _REQUEST.dump_json(request).decode()},
            "expiration": {"N": str(int(_expires(request).timestamp()))},
        }
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(id) OR version = :read",
                ExpressionAttributeValues={":read": {"N": str(record.version)}},
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                raise ConflictError(request.request_id) from error
            raise
        return Record(request, record.done, version)


def _expires(request: Request) -> datetime:
    return request.offering.end + KEPT


def _records(pages: "Iterable[ScanOutputTypeDef]") -> Iterator[Record]:
    return (_record(item) for page in pages for item in page["Items"])


def _record(item: "dict[str, AttributeValueTypeDef]") -> Record:
    done = frozenset(item["done"]["S"].split("\n")) if item["done"]["S"] else frozenset()
    return Record(_REQUEST.validate_json(item["request"]["S"]), done, int(item["version"]["N"]))
