"""Every alarm's transitions in one DynamoDB item: two notifications at once, in whatever order, add to it alike."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.pager.adapters import reason
from lambdas.pager.clients import TableClient
from lambdas.pager.errors import IncidentStoreError
from lambdas.pager.incident import Transition, transition_of
from lambdas.pager.model import AlarmChange, State

# Lambda repeats an SNS delivery for up to 23 days before it gives up.
REMEMBER: Final = timedelta(days=24)
# An item holds 400 KB; an alarm that changes so often has long been looked at.
TRANSITIONS_KEPT: Final = 400


class IncidentTable:
    """Every alarm's transitions, in the table that also holds the idempotency records."""

    def __init__(self, dynamodb: TableClient, table: str, now: Callable[[], float]) -> None:
        self._client, self._table, self._now = dynamodb, table, now

    def record(self, change: AlarmChange) -> frozenset[Transition]:
        """Remember ``change``; everything that is known of its alarm then, ``change`` among it.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        written = self._update(
            change, "ADD #transitions :these SET #expiration = :until", [_text(transition_of(change))]
        )
        known = sorted(map(_transition, written["Attributes"]["transitions"]["SS"]))
        if len(known) > TRANSITIONS_KEPT:
            oldest = known[: -TRANSITIONS_KEPT // 2]
            self._update(
                change, "DELETE #transitions :these SET #expiration = :until", [_text(each) for each in oldest]
            )
        return frozenset(known)

    def report(self, key: str, results: Mapping[str, str]) -> None:
        """Keep, for whoever asked for a test, what became of it at each destination, for a day.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        item = {
            "id": {"S": key},
            "results": {"M": {name: {"S": text} for name, text in results.items()}},
            "expiration": {"N": str(int(self._now() + timedelta(days=1).total_seconds()))},
        }
        try:
            self._client.put_item(TableName=self._table, Item=item)
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be written ({reason(error)})") from error

    def _update(self, change: AlarmChange, expression: str, transitions: list[str]) -> dict[str, Any]:
        until = str(int(self._now() + REMEMBER.total_seconds()))
        try:
            return self._client.update_item(
                TableName=self._table,
                Key={"id": {"S": f"incident#{change.arn}"}},
                UpdateExpression=expression,
                ExpressionAttributeNames={"#transitions": "transitions", "#expiration": "expiration"},
                ExpressionAttributeValues={":these": {"SS": transitions}, ":until": {"N": until}},
                ReturnValues="ALL_NEW",
            )
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be written ({reason(error)})") from error


def _text(transition: Transition) -> str:
    return f"{transition.changed_at.astimezone(UTC).isoformat()}|{transition.state}|{transition.old_state}"


def _transition(text: str) -> Transition:
    changed_at, state, old_state = text.split("|")
    return Transition(datetime.fromisoformat(changed_at), State(state), State(old_state))
