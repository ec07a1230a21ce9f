"""The AWS calls that the pager makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class SecretsClient(Protocol):
    """Secrets Manager."""

    def get_secret_value(self, **request: object) -> dict[str, Any]:
        """GetSecretValue."""


class TableClient(Protocol):
    """DynamoDB."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""

    def update_item(self, **request: object) -> dict[str, Any]:
        """UpdateItem."""

    def delete_item(self, **request: object) -> dict[str, Any]:
        """DeleteItem."""


class MetricsClient(Protocol):
    """CloudWatch."""

    def get_metric_data(self, **request: object) -> dict[str, Any]:
        """GetMetricData."""


class MailClient(Protocol):
    """SNS."""

    def publish(self, **request: object) -> dict[str, Any]:
        """Publish."""


class QueueClient(Protocol):
    """SQS."""

    def change_message_visibility(self, **request: object) -> dict[str, Any]:
        """ChangeMessageVisibility."""
