"""What EC2 Auto Scaling makes of a policy whose alarm is on: the group's new number of nodes.

Sources: EC2 Auto Scaling user guide, "Target tracking scaling policies" (in proportion, rounded up; what warms up
counts as there), "Step and simple scaling policies" (only simple ones pause the group), "Suspend and resume processes".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fleet.serving.scaling import nodes_for

ALARMS: Final = "AlarmNotification"
SUSPENDED: Final = "_Suspended"
"""The member of a group's record that holds the processes which stand still."""


@dataclass(slots=True)
class ScalingPolicies:
    """Remembers since when nodes warm up, and until when a group pauses."""

    _warming: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    _paused: dict[str, float] = field(default_factory=dict)

    def wanted(self, policy: Mapping[str, Any], group: Mapping[str, Any], load: float | None, now: float) -> int:
        """The number of nodes after the policy was called at ``now``; ``load`` is the newest value that it tracks."""
        name, desired = group["AutoScalingGroupName"], int(group["DesiredCapacity"])
        if ALARMS in group.get(SUSPENDED, ()):
            return desired
        found = desired
        if policy["PolicyType"] == "TargetTrackingScaling":
            found = self._tracked(policy, name, desired, load, now)
        elif policy["PolicyType"] == "SimpleScaling":
            found = self._simple(policy, name, desired, now)
        elif policy["PolicyType"] == "StepScaling":
            # One step: bounds tell several apart, and no policy here has more.
            found = _adjusted(policy, int(policy["StepAdjustments"][0]["ScalingAdjustment"]), desired)
        wanted = max(int(group["MinSize"]), min(found, int(group["MaxSize"])))
        if wanted != desired and policy["PolicyType"] == "SimpleScaling":
            self._paused[name] = now + int(policy["Cooldown"])
        if wanted > desired and policy["PolicyType"] == "TargetTrackingScaling":
            until = now + int(policy.get("EstimatedInstanceWarmup", group.get("DefaultCooldown", 300)))
            self._warming.setdefault(name, []).append((until, wanted - desired))
        return wanted

    def _tracked(self, policy: Mapping[str, Any], name: str, desired: int, load: float | None, now: float) -> int:
        if load is None:
            return desired
        warming = self._warming[name] = [each for each in self._warming.get(name, []) if each[0] > now]
        ready = max(1, desired - sum(count for _, count in warming))
        target = float(policy["TargetTrackingConfiguration"]["TargetValue"])
        # What is asked for already is there as soon as it is warm.
        return max(desired, nodes_for(load, ready, target))

    def _simple(self, policy: Mapping[str, Any], name: str, desired: int, now: float) -> int:
        if now < self._paused.get(name, 0.0):
            return desired
        return _adjusted(policy, int(policy["ScalingAdjustment"]), desired)


def _adjusted(policy: Mapping[str, Any], adjustment: int, desired: int) -> int:
    return adjustment if policy["AdjustmentType"] == "ExactCapacity" else desired + adjustment
