"""The AWS calls that the engine makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class TableClient(Protocol):
    """DynamoDB."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""

    def scan(self, **request: object) -> dict[str, Any]:
        """Scan."""


class Ec2Client(Protocol):
    """EC2."""

    def purchase_capacity_block(self, **request: object) -> dict[str, Any]:
        """PurchaseCapacityBlock."""

    def describe_capacity_reservations(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityReservations."""

    def describe_capacity_block_extension_offerings(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityBlockExtensionOfferings."""
