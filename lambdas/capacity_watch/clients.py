"""The AWS calls that the watch makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class Ec2Client(Protocol):
    """EC2."""

    def describe_capacity_reservations(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityReservations."""

    def describe_instances(self, **request: object) -> dict[str, Any]:
        """DescribeInstances."""


class TableClient(Protocol):
    """DynamoDB."""

    def batch_get_item(self, **request: object) -> dict[str, Any]:
        """BatchGetItem."""


class GroupsClient(Protocol):
    """Resource Groups."""

    def list_group_resources(self, **request: object) -> dict[str, Any]:
        """ListGroupResources."""

    def group_resources(self, **request: object) -> dict[str, Any]:
        """GroupResources."""


class BatchClient(Protocol):
    """Batch."""

    def describe_compute_environments(self, **request: object) -> dict[str, Any]:
        """DescribeComputeEnvironments."""

    def update_compute_environment(self, **request: object) -> dict[str, Any]:
        """UpdateComputeEnvironment."""

    def list_jobs(self, **request: object) -> dict[str, Any]:
        """ListJobs."""


class AutoScalingClient(Protocol):
    """EC2 Auto Scaling."""

    def describe_auto_scaling_groups(self, **request: object) -> dict[str, Any]:
        """DescribeAutoScalingGroups."""

    def describe_warm_pool(self, **request: object) -> dict[str, Any]:
        """DescribeWarmPool."""

    def set_desired_capacity(self, **request: object) -> dict[str, Any]:
        """SetDesiredCapacity."""

    def describe_scaling_activities(self, **request: object) -> dict[str, Any]:
        """DescribeScalingActivities."""


class CloudFormationClient(Protocol):
    """CloudFormation."""

    def describe_stack_events(self, **request: object) -> dict[str, Any]:
        """DescribeStackEvents."""

    def list_stacks(self, **request: object) -> dict[str, Any]:
        """ListStacks."""


class CloudWatchClient(Protocol):
    """CloudWatch."""

    def get_metric_data(self, **request: object) -> dict[str, Any]:
        """GetMetricData."""


class SsmClient(Protocol):
    """Systems Manager."""

    def get_parameters(self, **request: object) -> dict[str, Any]:
        """GetParameters."""
