"""The AWS calls that the roll-up makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class S3Client(Protocol):
    """S3."""

    def list_objects_v2(self, **request: object) -> dict[str, Any]:
        """ListObjectsV2."""

    def get_object(self, **request: object) -> dict[str, Any]:
        """GetObject."""

    def put_object(self, **request: object) -> dict[str, Any]:
        """PutObject."""


class CostExplorerClient(Protocol):
    """Cost Explorer."""

    def get_cost_and_usage(self, **request: object) -> dict[str, Any]:
        """GetCostAndUsage."""
