"""AWS as the pager sees it: events in the logs, the metric of waste, secrets, mail, the queue.

The table of incidents is in ``incident_table``. What botocore raises leaves both as the pager's own errors.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ValidationError

from fleet import metrics
from lambdas.pager.clients import MailClient, MetricsClient, QueueClient, SecretsClient, TableClient
from lambdas.pager.errors import DeliveryError, EnrichmentError, SecretError
from lambdas.shared.log_query import LogQuery, LogQueryError, LogsClient, Ticker

# A page must not wait for AWS: one retry, and a slow answer counts as none.
CONFIG: Final = Config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
POLL_SECONDS: Final = 0.2
# What a metric says is the last thing asked for, and the page goes out without it.
METRICS_CONFIG: Final = Config(connect_timeout=0.5, read_timeout=1, retries={"total_max_attempts": 1})
Event = TypeVar("Event", bound=BaseModel)
Rows = Sequence[Mapping[str, str]]


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


def metrics_client() -> MetricsClient:
    """CloudWatch with timeouts that are shorter still."""
    client: MetricsClient = boto3.client("cloudwatch", config=METRICS_CONFIG)
    return client


def mail_client() -> MailClient:
    """SNS with the pager's short timeouts."""
    client: MailClient = boto3.client("sns", config=CONFIG)
    return client


def queue_client() -> QueueClient:
    """SQS with the pager's short timeouts."""
    client: QueueClient = boto3.client("sqs", config=CONFIG)
    return client


def events_of(model: type[Event]) -> Callable[[Rows], list[Event]]:
    """Reads rows that hold whole events; a line that is none of the model's is left out."""

    def read(rows: Rows) -> list[Event]:
        return [event for row in rows if (event := _event(model, row)) is not None]

    return read


class EventQuery(Generic[Event]):
    """Reads the events of one log group with one Logs Insights query, within ``budget`` seconds."""

    def __init__(
        self,
        logs: LogsClient,
        log_group: str,
        events: Callable[[Rows], list[Event]],
        ticker: Ticker,
        budget: float = 5.0,
    ) -> None:
        self._query = LogQuery(logs, log_group, ticker, budget=budget, pause=POLL_SECONDS)
        self._events = events

    def read(self, query: str, start: datetime, end: datetime) -> list[Event]:
        """The events of [start, end] that ``query`` finds.

        Raises:
            EnrichmentError: the query could not be started, failed, or took longer than the budget.
        """
        try:
            rows = self._query.rows(query, start, end)
        except LogQueryError as error:
            raise EnrichmentError(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise EnrichmentError(f"the log query failed ({reason(error)})") from error
        return self._events(rows)


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
            raise SecretError(f"secret {name} cannot be read ({reason(error)})") from error
        text = answer.get("SecretString", "")
        if not text:
            raise SecretError(f"secret {name} holds no text")
        return str(text)


class WasteMetric:
    """What a fleet's node wastes on the mean, minute by minute."""

    def __init__(self, cloudwatch: MetricsClient, environment: str) -> None:
        self._client, self._environment = cloudwatch, environment

    def per_node(self, fleet: str, start: datetime, end: datetime) -> dict[datetime, float]:
        """USD an hour of the mean node by minute; empty when CloudWatch does not answer.

        The mean and not the sum, because a repeated PutMetricData doubles a sum.
        """
        dimensions = {metrics.ENVIRONMENT: self._environment, metrics.FLEET: fleet}
        stat = {
            "Metric": {
                "Namespace": metrics.NAMESPACE,
                "MetricName": metrics.WASTED_USD_PER_HOUR.name,
                "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
            },
            "Period": 60,
            "Stat": "Average",
        }
        try:
            answer = self._client.get_metric_data(
                MetricDataQueries=[{"Id": "waste", "MetricStat": stat}], StartTime=start, EndTime=end
            )
        except (BotoCoreError, ClientError):
            return {}
        series = answer["MetricDataResults"][0]
        return {at.astimezone(UTC): value for at, value in zip(series["Timestamps"], series["Values"], strict=True)}


class Mail:
    """E-mail, by way of the topic that its readers subscribed to."""

    def __init__(self, sns: MailClient) -> None:
        self._client = sns

    def send(self, topic_arn: str, subject: str, text: str) -> None:
        """Publish it; SNS delivers to the readers.

        Raises:
            DeliveryError: SNS did not take it.
        """
        try:
            self._client.publish(TopicArn=topic_arn, Subject=subject, Message=text)
        except (BotoCoreError, ClientError) as error:
            raise DeliveryError(f"refused with {reason(error)}") from error


class WaitingQueue:
    """The messages that are to be tried again."""

    def __init__(self, sqs: QueueClient, url: str) -> None:
        self._client, self._url = sqs, url

    def put_off(self, receipt_handle: str, seconds: int) -> None:
        """Show the message again after ``seconds``; if SQS does not answer, after the queue's own time."""
        with suppress(BotoCoreError, ClientError):
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=seconds
            )


def _event(model: type[Event], row: Mapping[str, str]) -> Event | None:
    try:
        return model.model_validate_json(row.get("@message", ""))
    except ValidationError:
        return None


def reason(error: BotoCoreError | ClientError) -> str:
    """The error's code or class, never its text: a text may repeat what was sent."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "unknown"))
    return type(error).__name__
