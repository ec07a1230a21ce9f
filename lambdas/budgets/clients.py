"""The AWS calls that budgets make, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class S3Client(Protocol):
    """S3."""

    def get_object(self, **request: object) -> dict[str, Any]:
        """GetObject."""


class TableClient(Protocol):
    """DynamoDB."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""


class PoolTableClient(Protocol):
    """DynamoDB, as far as another's table goes."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def update_item(self, **request: object) -> dict[str, Any]:
        """UpdateItem."""


class BatchClient(Protocol):
    """AWS Batch."""

    def describe_job_queues(self, **request: object) -> dict[str, Any]:
        """DescribeJobQueues."""

    def update_job_queue(self, **request: object) -> dict[str, Any]:
        """UpdateJobQueue."""

    def update_compute_environment(self, **request: object) -> dict[str, Any]:
        """UpdateComputeEnvironment."""
