"""AWS as the pager sees it: the events in the logs, the secrets, and the table of incidents.

boto3 and botocore stay in this file; their errors leave it as the pager's own.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ValidationError

from lambdas.pager.clients import SecretsClient, TableClient
from lambdas.pager.errors import EnrichmentError, IncidentStoreError, SecretError
from lambdas.pager.incident import Remembered
from lambdas.pager.model import AlarmChange, State
from lambdas.shared.log_query import LogQuery, LogQueryError, LogsClient, Ticker

# A page must not wait for AWS: one retry, and a slow answer counts as none.
CONFIG: Final = Config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
POLL_SECONDS: Final = 0.2
# Lambda repeats an SNS delivery for up to 23 days before it gives up.
REMEMBER: Final = timedelta(days=24)
Event = TypeVar("Event", bound=BaseModel)


def logs_client() -> LogsClient:
    """CloudWatch Logs with the pager's short timeouts."""
    client: LogsClient = boto3.client("logs", config=CONFIG)
    return client


def secrets_client() -> SecretsClient:
    """Secrets Manager with the pager's short timeouts."""
    client: SecretsClient = boto3.client("secretsmanager", config=CONFIG)
    return client


def table_client() -> TableClient:
    """DynamoDB with the pager's short timeouts."""
    client: TableClient = boto3.client("dynamodb", config=CONFIG)
    return client


class EventQuery(Generic[Event]):
    """Reads the events of one log group with one Logs Insights query, within ``budget`` seconds."""

    def __init__(
        self, logs: LogsClient, log_group: str, model: type[Event], ticker: Ticker, budget: float = 5.0
    ) -> None:
        self._query = LogQuery(logs, log_group, ticker, budget=budget, pause=POLL_SECONDS)
        self._model = model

    def read(self, query: str, start: datetime, end: datetime) -> list[Event]:
        """The events of [start, end] that ``query`` finds; a line that is none of the model's is left out.

        Raises:
            EnrichmentError: the query could not be started, failed, or took longer than the budget.
        """
        try:
            rows = self._query.rows(query, start, end)
        except LogQueryError as error:
            raise EnrichmentError(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise EnrichmentError(f"the log query failed ({_reason(error)})") from error
        return [event for row in rows if (event := self._event(row)) is not None]

    def _event(self, row: Mapping[str, str]) -> Event | None:
        try:
            return self._model.model_validate_json(row.get("@message", ""))
        except ValidationError:
            return None


class Secrets:
    """Secret values by name, read for each page, so that a rotated secret is used at once."""

    def __init__(self, secretsmanager: SecretsClient) -> None:
        self._client = secretsmanager

    def read(self, name: str) -> str:
        """The secret's text.

        Raises:
            SecretError: there is no such secret, or it holds no text.
        """
        try:
            answer = self._client.get_secret_value(SecretId=name)
        except (BotoCoreError, ClientError) as error:
            raise SecretError(f"secret {name} cannot be read ({_reason(error)})") from error
        text = answer.get("SecretString", "")
        if not text:
            raise SecretError(f"secret {name} holds no text")
        return str(text)


class IncidentTable:
    """The newest transition of each alarm, in the table that also holds the idempotency records."""

    def __init__(self, dynamodb: TableClient, table: str, now: Callable[[], float]) -> None:
        self._client, self._table, self._now = dynamodb, table, now

    def last(self, alarm_arn: str) -> Remembered | None:
        """What is remembered of an alarm.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        try:
            answer = self._client.get_item(TableName=self._table, Key=_key(alarm_arn), ConsistentRead=True)
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be read ({_reason(error)})") from error
        return _remembered(answer["Item"]) if "Item" in answer else None

    def remember(self, change: AlarmChange, opened_at: datetime | None) -> bool:
        """Keep ``change`` as the newest transition; False when a newer one is there already.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        item = {
            **_key(change.arn),
            "state": {"S": change.state},
            "changed_at": {"S": change.changed_at_text},
            "expiration": {"N": str(int(self._now() + REMEMBER.total_seconds()))},
        }
        if opened_at is not None:
            item["opened_at"] = {"S": opened_at.isoformat()}
        try:
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(id) OR changed_at <= :changed_at",
                ExpressionAttributeValues={":changed_at": {"S": change.changed_at_text}},
            )
        except ClientError as error:
            if _reason(error) == "ConditionalCheckFailedException":
                return False
            raise IncidentStoreError(f"table {self._table} cannot be written ({_reason(error)})") from error
        except BotoCoreError as error:
            raise IncidentStoreError(f"table {self._table} cannot be written ({_reason(error)})") from error
        return True


def _key(alarm_arn: str) -> dict[str, dict[str, str]]:
    return {"id": {"S": f"incident#{alarm_arn}"}}


def _remembered(item: Mapping[str, Mapping[str, str]]) -> Remembered:
    opened = item.get("opened_at")
    return Remembered(
        State(item["state"]["S"]),
        datetime.fromisoformat(item["changed_at"]["S"]),
        datetime.fromisoformat(opened["S"]) if opened else None,
    )


def _reason(error: BotoCoreError | ClientError) -> str:
    """The error's code or class, never its text: a text may repeat what was sent."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "unknown"))
    return type(error).__name__
