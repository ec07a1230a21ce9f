"""The candidate's nodes, asked for when needed and let go after its last answer; whether the stable side's scale."""

from typing import Any, Final

from fleet.rollout.facts import SidePlace
from lambdas.rollout.clients import AutoScalingClient

_LOOKED_AT: Final = 5
# EC2 Auto Scaling user guide, "Suspend and resume processes": without it a group takes no notice of alarms, those of
# target tracking and of step scaling alike, and lost nodes are replaced as ever.
_SCALES: Final = "AlarmNotification"


class ScalingGroup:
    """EC2 Auto Scaling."""

    def __init__(self, autoscaling: AutoScalingClient) -> None:
        self._autoscaling = autoscaling

    def ask_for(self, side: SidePlace, nodes: int) -> None:
        """Make ``nodes`` the number that the group should have."""
        if self.wanted(side) != nodes:
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

    def wanted(self, side: SidePlace) -> int:
        """How many the group is to have."""
        return int(self._group(side)["DesiredCapacity"])

    def let_scale(self, side: SidePlace, scales: bool) -> None:
        """Let the group follow the load, or keep it as it is."""
        stands_still = self.stands_still(side)
        if scales and stands_still:
            self._autoscaling.resume_processes(AutoScalingGroupName=side.group, ScalingProcesses=[_SCALES])
        if not scales and not stands_still:
            self._autoscaling.suspend_processes(AutoScalingGroupName=side.group, ScalingProcesses=[_SCALES])

    def stands_still(self, side: SidePlace) -> bool:
        """Whether the group takes no notice of its load."""
        return _SCALES in {each["ProcessName"] for each in self._group(side).get("SuspendedProcesses", ())}

    def _group(self, side: SidePlace) -> dict[str, Any]:
        groups = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[side.group])
        if not groups["AutoScalingGroups"]:
            raise LookupError(f"there is no Auto Scaling group {side.group}")
        group: dict[str, Any] = groups["AutoScalingGroups"][0]
        return group
