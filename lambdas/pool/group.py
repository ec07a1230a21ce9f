"""A pool's Auto Scaling group and its instances."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fleet import naming
from fleet.pool.observed import Node, PoolDeployment

if TYPE_CHECKING:
    from mypy_boto3_autoscaling import AutoScalingClient
    from mypy_boto3_autoscaling.type_defs import InstanceTypeDef as MemberTypeDef
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import InstanceTypeDef

# DescribeInstances by id; a pool has a hundred nodes at most, and as many that are being replaced.
_AT_ONCE: Final = 100


class ScalingGroup:
    """EC2 Auto Scaling, and EC2 for what it does not tell of its members."""

    def __init__(self, autoscaling: "AutoScalingClient", ec2: "EC2Client") -> None:
        self._autoscaling, self._ec2 = autoscaling, ec2

    def of(self, place: PoolDeployment) -> tuple[int, tuple[Node, ...]]:
        """How many nodes the group wants, and those that it has.

        Raises:
            LookupError: Auto Scaling does not show the group.
        """
        answer = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[place.group])
        if not answer["AutoScalingGroups"]:
            raise LookupError(f"Auto Scaling does not show group {place.group}")
        group = answer["AutoScalingGroups"][0]
        members = {each["InstanceId"]: each for each in group.get("Instances", [])}
        nodes = tuple(_node(members[each["InstanceId"]], each) for each in self._instances(list(members)))
        return group["DesiredCapacity"], nodes

    def set_desired(self, place: PoolDeployment, nodes: int) -> None:
        """Want so many nodes; the group need not wait after what it did last."""
        self._autoscaling.set_desired_capacity(
            AutoScalingGroupName=place.group, DesiredCapacity=nodes, HonorCooldown=False
        )

    def replace(self, instance_id: str) -> None:
        """Call a node unhealthy: the group launches another one and ends this one, after its lifecycle hook."""
        self._autoscaling.set_instance_health(
            InstanceId=instance_id, HealthStatus="Unhealthy", ShouldRespectGracePeriod=False
        )

    def release(self, instance_id: str) -> None:
        """End a node and want one less."""
        self._autoscaling.terminate_instance_in_auto_scaling_group(
            InstanceId=instance_id, ShouldDecrementDesiredCapacity=True
        )

    def let_go(self, place: PoolDeployment, instance_id: str) -> None:
        """End a node's wait at the lifecycle hook."""
        self._autoscaling.complete_lifecycle_action(
            LifecycleHookName=naming.DRAIN_HOOK,
            AutoScalingGroupName=place.group,
            InstanceId=instance_id,
            LifecycleActionResult="CONTINUE",
        )

    def _instances(self, ids: list[str]) -> "Iterator[InstanceTypeDef]":
        for first in range(0, len(ids), _AT_ONCE):
            # By a filter: an id that EC2 has forgotten is then no error.
            some = ids[first : first + _AT_ONCE]
            page = self._ec2.describe_instances(Filters=[{"Name": "instance-id", "Values": some}])
            for reservation in page["Reservations"]:
                yield from reservation["Instances"]


def _node(member: "MemberTypeDef", instance: "InstanceTypeDef") -> Node:
    return Node(
        instance_id=instance["InstanceId"],
        instance_type=instance["InstanceType"],
        state=member["LifecycleState"],
        is_healthy=member.get("HealthStatus", "Healthy").upper() == "HEALTHY",
        launched_at=instance["LaunchTime"],
        address=instance.get("PrivateIpAddress", ""),
    )
