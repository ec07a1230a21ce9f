"""The AWS calls that the controller makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class AutoScalingClient(Protocol):
    """EC2 Auto Scaling."""

    def describe_auto_scaling_groups(self, **request: object) -> dict[str, Any]:
        """DescribeAutoScalingGroups."""

    def set_desired_capacity(self, **request: object) -> dict[str, Any]:
        """SetDesiredCapacity."""

    def set_instance_health(self, **request: object) -> dict[str, Any]:
        """SetInstanceHealth."""

    def terminate_instance_in_auto_scaling_group(self, **request: object) -> dict[str, Any]:
        """TerminateInstanceInAutoScalingGroup."""

    def complete_lifecycle_action(self, **request: object) -> dict[str, Any]:
        """CompleteLifecycleAction."""


class Ec2Client(Protocol):
    """EC2."""

    def describe_instances(self, **request: object) -> dict[str, Any]:
        """DescribeInstances."""


class EcsClient(Protocol):
    """ECS."""

    def list_container_instances(self, **request: object) -> dict[str, Any]:
        """ListContainerInstances."""

    def describe_container_instances(self, **request: object) -> dict[str, Any]:
        """DescribeContainerInstances."""

    def list_tasks(self, **request: object) -> dict[str, Any]:
        """ListTasks."""

    def describe_tasks(self, **request: object) -> dict[str, Any]:
        """DescribeTasks."""

    def start_task(self, **request: object) -> dict[str, Any]:
        """StartTask."""

    def stop_task(self, **request: object) -> dict[str, Any]:
        """StopTask."""


class DynamoDbClient(Protocol):
    """DynamoDB."""

    def query(self, **request: object) -> dict[str, Any]:
        """Query."""

    def update_item(self, **request: object) -> dict[str, Any]:
        """UpdateItem."""


class SsmClient(Protocol):
    """Systems Manager."""

    def get_parameters(self, **request: object) -> dict[str, Any]:
        """GetParameters."""
