"""Who precompiles what, an item for each artifact; whoever writes says what was read, so that one writes at a time.

id          S  the artifact's prefix
token       N  grows with every holder
stage       S  compiling | done | failed
holder      S  the ARN of an execution
changed     N  unix seconds
reason      S  of a failure
expiration  N  unix seconds: the end of the item
"""

from typing import Any, Final

from botocore.exceptions import ClientError

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.precompilation import Precompilation, Stage
from lambdas.compile_cache.clients import StatesClient, TableClient
from lambdas.compile_cache.ports import ConflictError

# As long as Step Functions remembers an execution.
_KEPT_SECONDS: Final = 90 * 24 * 3600
# DescribeExecution is eventually consistent: an execution that it does not know yet may have begun (API reference).
_NEW_SECONDS: Final = 300


class Runs:
    """The table of one environment, and the executions that it names."""

    def __init__(self, dynamodb: TableClient, states: StatesClient, table: str) -> None:
        self._dynamodb, self._states, self._table = dynamodb, states, table

    def read(self, artifact: Artifact) -> Precompilation | None:
        """The last one of an artifact, as it is now."""
        key = {"id": {"S": artifact.prefix}}
        answer = self._dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return _run(answer["Item"]) if answer.get("Item") else None

    def write(self, artifact: Artifact, seen: Precompilation | None, new: Precompilation) -> None:
        """Put ``new`` in the place of ``seen``. Raises ConflictError when something else is there by now."""
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(id)"}
        if seen is not None:
            condition = {
                "ConditionExpression": "#token = :token AND stage = :stage",
                "ExpressionAttributeNames": {"#token": "token"},
                "ExpressionAttributeValues": {":token": {"N": str(seen.token)}, ":stage": {"S": seen.stage.value}},
            }
        try:
            self._dynamodb.put_item(TableName=self._table, Item=_item(artifact, new), **condition)
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
        return bool(status in {"RUNNING", "PENDING_REDRIVE"})


def _item(artifact: Artifact, run: Precompilation) -> dict[str, dict[str, str]]:
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


def _run(item: dict[str, dict[str, str]]) -> Precompilation:
    return Precompilation(
        token=int(item["token"]["N"]),
        stage=Stage(item["stage"]["S"]),
        holder=item["holder"]["S"],
        changed=float(item["changed"]["N"]),
        reason=item["reason"]["S"],
    )
