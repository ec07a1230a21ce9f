"""The Auto Scaling group of an endpoint or a pool, and its newest launches."""

from typing import Any, Final

from fleet.reserved.observed import Activity, Member, ScalingGroup
from fleet.reserved.place import Place
from lambdas.capacity_watch.clients import AutoScalingClient

_LAUNCH: Final = "Launching"
_FAILED: Final = frozenset({"Failed", "Cancelled"})
_OVER: Final = _FAILED | {"Successful"}
# The API's greatest page. Only the newest launches say anything about now.
_ACTIVITIES: Final = 100


class ScalingGroups:
    """Endpoints and pools; fleets on AWS Batch have none."""

    def __init__(self, autoscaling: AutoScalingClient) -> None:
        self._autoscaling = autoscaling

    def of(self, place: Place) -> ScalingGroup:
        """The fleet's group with its launches.

        Raises:
            LookupError: Auto Scaling does not show the group.
        """
        name = place.auto_scaling_group
        found = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        if not found:
            raise LookupError(f"Auto Scaling does not show group {name}")
        activities = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=name, MaxRecords=_ACTIVITIES)[
            "Activities"
        ]
        launches = [_activity(each) for each in activities if each.get("Description", "").startswith(_LAUNCH)]
        return ScalingGroup(
            desired=found[0]["DesiredCapacity"],
            members=tuple(Member(each["InstanceId"], each["LifecycleState"]) for each in found[0].get("Instances", [])),
            launches=tuple(sorted(launches, key=lambda launch: launch.started_at, reverse=True)),
        )

    def keep(self, place: Place, nodes: int) -> None:
        """Make the group want ``nodes``."""
        self._autoscaling.set_desired_capacity(AutoScalingGroupName=place.auto_scaling_group, DesiredCapacity=nodes)


def _activity(entry: dict[str, Any]) -> Activity:
    status = entry["StatusCode"]
    return Activity(
        started_at=entry["StartTime"],
        is_over=status in _OVER,
        has_failed=status in _FAILED,
        words=entry.get("StatusMessage") or entry.get("Cause", ""),
    )
