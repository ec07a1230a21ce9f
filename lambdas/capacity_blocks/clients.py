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

    def describe_capacity_block_offerings(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityBlockOfferings."""

    def describe_capacity_block_extension_offerings(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityBlockExtensionOfferings."""

    def describe_capacity_block_extension_history(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityBlockExtensionHistory."""


class BatchClient(Protocol):
    """Batch."""

    def describe_compute_environments(self, **request: object) -> dict[str, Any]:
        """DescribeComputeEnvironments."""

    def update_compute_environment(self, **request: object) -> dict[str, Any]:
        """UpdateComputeEnvironment."""

    def list_jobs(self, **request: object) -> dict[str, Any]:
        """ListJobs."""

    def terminate_job(self, **request: object) -> dict[str, Any]:
        """TerminateJob."""


class SsmClient(Protocol):
    """Systems Manager."""

    def send_command(self, **request: object) -> dict[str, Any]:
        """SendCommand."""
