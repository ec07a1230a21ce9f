"""The AWS calls that the function makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class S3Client(Protocol):
    """S3."""

    def get_object(self, **request: object) -> dict[str, Any]:
        """GetObject."""

    def list_objects_v2(self, **request: object) -> dict[str, Any]:
        """ListObjectsV2."""


class TableClient(Protocol):
    """DynamoDB."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""


class StatesClient(Protocol):
    """Step Functions."""

    def describe_execution(self, **request: object) -> dict[str, Any]:
        """DescribeExecution."""


class SsmClient(Protocol):
    """Systems Manager."""

    def get_parameter(self, **request: object) -> dict[str, Any]:
        """GetParameter."""
