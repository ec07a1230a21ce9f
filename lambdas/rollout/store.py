"""The newest rollout of each fleet, one item each in a DynamoDB table: the lease of the endpoint until it has ended.

Who writes says which version was read, so no change is overwritten.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.rollout.record import Rollout

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_ROLLOUT: Final = TypeAdapter(Rollout)
# Beside the time between two looks: a look with all its retries.
_LATE: Final = timedelta(minutes=5)


class ConflictError(Exception):
    """The record was changed by somebody else since it was read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A rollout as stored. Until ``is_applied``, what it wants may not be true in AWS."""

    rollout: Rollout
    is_applied: bool
    looked_at: datetime
    version: int = 0

    def is_looked_at(self, now: datetime) -> bool:
        """Whether the last look is no older than it may be."""
        return now - self.looked_at < timedelta(seconds=self.rollout.plan.look_seconds) + _LATE

    @property
    def is_settled(self) -> bool:
        """Whether it is over, and what it ended with is true."""
        return self.rollout.is_over and self.is_applied

    def with_rollout(self, rollout: Rollout, *, is_applied: bool) -> "Record":
        """The same record of the rollout as it stands now."""
        return replace(self, rollout=rollout, is_applied=is_applied)


class Table:
    """The newest rollout of each fleet of one environment."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    def read(self, fleet: str) -> Record | None:
        """The record, as written last."""
        answer = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": fleet}}, ConsistentRead=True)
        return _record(answer["Item"]) if answer.get("Item") else None

    def write(self, record: Record) -> Record:
        """Store over the version that was read; raises ConflictError."""
        rollout, version = record.rollout, record.version + 1
        item: Mapping[str, AttributeValueTypeDef] = {
            "id": {"S": rollout.fleet},
            "version": {"N": str(version)},
            "is_applied": {"BOOL": record.is_applied},
            "looked_at": {"S": record.looked_at.isoformat()},
            "rollout": {"S": _ROLLOUT.dump_json(rollout).decode()},
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
                raise ConflictError(rollout.fleet) from error
            raise
        return Record(rollout, record.is_applied, record.looked_at, version)


def _record(item: Mapping[str, Any]) -> Record:
    return Record(
        _ROLLOUT.validate_json(item["rollout"]["S"]),
        item["is_applied"]["BOOL"],
        datetime.fromisoformat(item["looked_at"]["S"]),
        int(item["version"]["N"]),
    )
