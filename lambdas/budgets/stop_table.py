"""What is remembered of the stop: one item of a DynamoDB table. Who writes says which version was read."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.budgets.stop import Stop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ID: Final = "stop"
_STOP: Final = TypeAdapter(Stop)


class ConflictError(Exception):
    """Somebody else changed the record since it was read."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered: the stop, and the fleets that it has closed. ``version`` is 0 before the first."""

    stop: Stop | None = None
    closed: tuple[str, ...] = ()
    version: int = 0


class StopTable:
    """The table of one environment."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    def read(self) -> Record:
        """As it is; an empty record when there is none."""
        item = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": _ID}}, ConsistentRead=True).get("Item")
        if not item:
            return Record()
        closed = tuple(name for name in item["closed"]["S"].split("\n") if name)
        return Record(_STOP.validate_json(item["stop"]["S"]), closed, int(item["version"]["N"]))

    def write(self, record: Record) -> Record:
        """Store over the version that was read.

        Raises:
            ConflictError: that is no longer the one.
        """
        version = record.version + 1
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item={
                    "id": {"S": _ID},
                    "version": {"N": str(version)},
                    "stop": {"S": _STOP.dump_json(record.stop).decode() if record.stop else "null"},
                    "closed": {"S": "\n".join(record.closed)},
                },
                ConditionExpression="attribute_not_exists(id) OR version = :read",
                ExpressionAttributeValues={":read": {"N": str(record.version)}},
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                raise ConflictError("the stop changed at this very moment") from error
            raise
        return replace(record, version=version)
