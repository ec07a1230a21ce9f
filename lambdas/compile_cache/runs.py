"""Who precompiles what, an item for each artifact; whoever writes says what was read, so that one writes at a time.

id          S  the artifact's prefix
token       N  grows with every holder
stage       S  compiling | done | failed
holder      S  the ARN of an execution
changed     N  unix seconds
reason      S  of a failure
expiration  N  unix seconds: the end of the item
"""

from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.precompilation import Precompilation, Stage

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, PutItemInputTypeDef
    from mypy_boto3_stepfunctions import SFNClient

# As long as Step Functions remembers an execution.
_KEPT_SECONDS: Final = 90 * 24 * 3600
# DescribeExecution is eventually consistent: an execution that it does not know yet may have begun (API reference).
_NEW_SECONDS: Final = 300


class ConflictError(Exception):
    """Another execution has written since; Step Functions tries again."""


class Runs:
    """The table of one environment, and the executions that it names."""

    def __init__(self, dynamodb: "DynamoDBClient", states: "SFNClient", table: str) -> None:
        self._dynamodb, self._states, self._table = dynamodb, states, table

    def read(self, artifact: Artifact) -> Precompilation | None:
        """The last one of an artifact, as it is now."""
        answer = self._dynamodb.get_item(TableName=self._table, Key={"id": {"S": artifact.prefix}}, ConsistentRead=True)
        return _run(answer["Item"]) if answer.get("Item") else None

    def write(self, artifact: Artifact, seen: Precompilation | None, new: Precompilation) -> None:
        """Put ``new`` in the place of ``seen``. Raises ConflictError when something else is there by now."""
        request: PutItemInputTypeDef = {
            "TableName": self._table,
            "Item": _item(artifact, new),
            "ConditionExpression": "attribute_not_exists(id)",
        }
        if seen is not None:
            request["ConditionExpression"] = "#token = :token AND stage = :stage"
            request["ExpressionAttributeNames"] = {"#token": "token"}
            request["ExpressionAttributeValues"] = {":token": {"N": str(seen.token)}, ":stage": {"S": seen.stage.value}}
        try:
            self._dynamodb.put_item(**request)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
                raise
            # Ours all the same, if the answer to the first try was lost.
            if self.read(artifact) != new:
                raise ConflictError(artifact.prefix) from error

    def lives(self, run: Precompilation, now: float) -> bool:
        """Whether the execution that holds it still runs."""
        try:
            status = self._states.describe_execution(executionArn=run.holder)["status"]
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ExecutionDoesNotExist":
                raise
            return now - run.changed < _NEW_SECONDS
        return status in {"RUNNING", "PENDING_REDRIVE"}


def _item(artifact: Artifact, run: Precompilation) -> "dict[str, AttributeValueTypeDef]":
    return {
        "id": {"S": artifact.prefix},
        "token": {"N": str(run.token)},
        "stage": {"S": run.stage.value},
        "holder": {"S": run.holder},
        # repr is the shortest text that reads as the same number.
        "changed": {"N": repr(run.changed)},
        "reason": {"S": run.reason},
        "expiration": {"N": str(int(run.changed) + _KEPT_SECONDS)},
    }


def _run(item: "dict[str, AttributeValueTypeDef]") -> Precompilation:
    return Precompilation(
        token=int(item["token"]["N"]),
        stage=Stage(item["stage"]["S"]),
        holder=item["holder"]["S"],
        changed=float(item["changed"]["N"]),
        reason=item["reason"]["S"],
    )
