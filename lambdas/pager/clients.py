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
