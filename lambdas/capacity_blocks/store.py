"""Requests in one DynamoDB table, an item each. Who writes says which version was read, so no change is overwritten.

The table is small, a few requests a week, and ended ones expire: a scan reads all that is open.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.blocks.purchase import Request, Status
from lambdas.capacity_blocks.clients import TableClient
from lambdas.capacity_blocks.ports import ConflictError, Record

_ENDED: Final = frozenset({Status.REJECTED, Status.LAPSED, Status.FAILED})
# How long an ended request can still be looked up.
KEPT: Final = timedelta(days=400)
_REQUEST: Final = TypeAdapter(Request)


class Table:
    """The requests of one environment."""

    def __init__(self, dynamodb: TableClient, table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    def open(self) -> Iterator[Record]:
        """Every record that has not ended; a block that was bought stays open until it is accounted for."""
        return self._scan(FilterExpression="is_open = :yes", ExpressionAttributeValues={":yes": {"BOOL": True}})

    def all(self) -> Iterator[Record]:
        """Every record that has not expired."""
        return self._scan()

    def _scan(self, **which: object) -> Iterator[Record]:
        start: dict[str, Any] = {}
        while True:
            page = self._dynamodb.scan(TableName=self._table, ConsistentRead=True, **which, **start)
            yield from map(_record, page["Items"])
            if not page.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def read(self, request_id: str) -> Record | None:
        """One record."""
        answer = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": request_id}}, ConsistentRead=True)
        return _record(answer["Item"]) if answer.get("Item") else None

    def write(self, record: Record) -> Record:
        """Store over the version that was read."""
        request, version = record.request, record.version + 1
        item = {
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


def _record(item: dict[str, Any]) -> Record:
    done = frozenset(item["done"]["S"].split("\n")) if item["done"]["S"] else frozenset()
    return Record(_REQUEST.validate_json(item["request"]["S"]), done, int(item["version"]["N"]))
