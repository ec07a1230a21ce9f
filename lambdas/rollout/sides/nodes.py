"""The candidate's nodes: asked for when it needs them, and let go when it has given its last answer."""

from typing import Final

from fleet.rollout.place import SidePlace
from lambdas.rollout.clients import AutoScalingClient

_LOOKED_AT: Final = 5


class ScalingGroup:
    """EC2 Auto Scaling."""

    def __init__(self, autoscaling: AutoScalingClient) -> None:
        self._autoscaling = autoscaling

    def ask_for(self, side: SidePlace, nodes: int) -> None:
        """Make ``nodes`` the number that the group should have."""
        groups = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[side.group])
        if not groups["AutoScalingGroups"]:
            raise LookupError(f"there is no Auto Scaling group {side.group}")
        if groups["AutoScalingGroups"][0]["DesiredCapacity"] != nodes:
            self._autoscaling.set_desired_capacity(
                AutoScalingGroupName=side.group, DesiredCapacity=nodes, HonorCooldown=False
            )

    def lacking(self, side: SidePlace) -> str:
        """Why there are fewer than asked for, in AWS's words; empty where the newest attempt did not fail."""
        answer = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=side.group, MaxRecords=_LOOKED_AT)
        newest = next(iter(answer["Activities"]), None)
        if newest is None or newest.get("StatusCode") != "Failed":
            return ""
        return str(newest.get("StatusMessage", ""))
