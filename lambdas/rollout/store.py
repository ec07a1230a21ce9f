"""One item for each fleet in a DynamoDB table. Who writes says which version was read, so no change is overwritten."""

from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.rollout.record import Rollout
from lambdas.rollout.clients import TableClient
from lambdas.rollout.ports import ConflictError, Record

_ROLLOUT: Final = TypeAdapter(Rollout)


class Table:
    """The newest rollout of each fleet of one environment."""

    def __init__(self, dynamodb: TableClient, table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    def read(self, fleet: str) -> Record | None:
        """The record, as written last."""
        answer = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": fleet}}, ConsistentRead=True)
        return _record(answer["Item"]) if answer.get("Item") else None

    def write(self, record: Record) -> Record:
        """Store over the version that was read."""
        rollout, version = record.rollout, record.version + 1
        item = {
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


def _record(item: dict[str, Any]) -> Record:
    return Record(
        _ROLLOUT.validate_json(item["rollout"]["S"]),
        item["is_applied"]["BOOL"],
        datetime.fromisoformat(item["looked_at"]["S"]),
        int(item["version"]["N"]),
    )
