"""The AWS calls that rollouts make, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class EcsClient(Protocol):
    """ECS."""

    def describe_services(self, **request: object) -> dict[str, Any]:
        """DescribeServices."""

    def list_tasks(self, **request: object) -> dict[str, Any]:
        """ListTasks."""

    def update_service(self, **request: object) -> dict[str, Any]:
        """UpdateService."""

    def describe_task_definition(self, **request: object) -> dict[str, Any]:
        """DescribeTaskDefinition."""

    def register_task_definition(self, **request: object) -> dict[str, Any]:
        """RegisterTaskDefinition."""


class BalancerClient(Protocol):
    """Elastic Load Balancing, version 2."""

    def describe_rules(self, **request: object) -> dict[str, Any]:
        """DescribeRules."""

    def modify_rule(self, **request: object) -> dict[str, Any]:
        """ModifyRule."""

    def describe_target_health(self, **request: object) -> dict[str, Any]:
        """DescribeTargetHealth."""


class AutoScalingClient(Protocol):
    """EC2 Auto Scaling."""

    def describe_auto_scaling_groups(self, **request: object) -> dict[str, Any]:
        """DescribeAutoScalingGroups."""

    def describe_scaling_activities(self, **request: object) -> dict[str, Any]:
        """DescribeScalingActivities."""

    def set_desired_capacity(self, **request: object) -> dict[str, Any]:
        """SetDesiredCapacity."""

    def suspend_processes(self, **request: object) -> dict[str, Any]:
        """SuspendProcesses."""

    def resume_processes(self, **request: object) -> dict[str, Any]:
        """ResumeProcesses."""


class SageMakerClient(Protocol):
    """Amazon SageMaker."""

    def describe_endpoint(self, **request: object) -> dict[str, Any]:
        """DescribeEndpoint."""

    def describe_endpoint_config(self, **request: object) -> dict[str, Any]:
        """DescribeEndpointConfig."""

    def create_endpoint_config(self, **request: object) -> dict[str, Any]:
        """CreateEndpointConfig."""

    def create_model(self, **request: object) -> dict[str, Any]:
        """CreateModel."""

    def update_endpoint(self, **request: object) -> dict[str, Any]:
        """UpdateEndpoint."""

    def update_endpoint_weights_and_capacities(self, **request: object) -> dict[str, Any]:
        """UpdateEndpointWeightsAndCapacities."""


class ScalingClient(Protocol):
    """Application Auto Scaling."""

    def describe_scalable_targets(self, **request: object) -> dict[str, Any]:
        """DescribeScalableTargets."""

    def register_scalable_target(self, **request: object) -> dict[str, Any]:
        """RegisterScalableTarget."""


class CloudWatchClient(Protocol):
    """CloudWatch."""

    def get_metric_data(self, **request: object) -> dict[str, Any]:
        """GetMetricData."""

    def describe_alarms(self, **request: object) -> dict[str, Any]:
        """DescribeAlarms."""


class SsmClient(Protocol):
    """Systems Manager."""

    def get_parameter(self, **request: object) -> dict[str, Any]:
        """GetParameter."""

    def put_parameter(self, **request: object) -> dict[str, Any]:
        """PutParameter."""


class S3Client(Protocol):
    """S3."""

    def head_object(self, **request: object) -> dict[str, Any]:
        """HeadObject."""


class S3ReadClient(Protocol):
    """S3, where objects are read."""

    def list_objects_v2(self, **request: object) -> dict[str, Any]:
        """ListObjectsV2."""

    def get_object(self, **request: object) -> dict[str, Any]:
        """GetObject."""


class StatesClient(Protocol):
    """Step Functions."""

    def start_execution(self, **request: object) -> dict[str, Any]:
        """StartExecution."""

    def describe_execution(self, **request: object) -> dict[str, Any]:
        """DescribeExecution."""


class TableClient(Protocol):
    """DynamoDB."""

    def get_item(self, **request: object) -> dict[str, Any]:
        """GetItem."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""
