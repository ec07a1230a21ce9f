"""The Auto Scaling group of an endpoint or a pool, and its newest launches."""

from typing import Any, Final

from fleet.reserved.observed import Activity, Member, Place, ScalingGroup
from lambdas.capacity_watch.clients import AutoScalingClient

_LAUNCH: Final = "Launching"
_FAILED: Final = frozenset({"Failed", "Cancelled"})
_OVER: Final = _FAILED | {"Successful"}
# As the activity of a node that is to be stopped begins: AWS's blog "Scaling your applications faster with EC2 Auto
# Scaling Warm Pools" shows it. [UNVERIFIED] for one that failed.
_INTO_POOL: Final = "Launching a new EC2 instance into warm pool"
# The API's greatest page, and enough of them for a warm pool.
_POOL_PAGE: Final = 50
_POOL_PAGES: Final = 40
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
        launches = [_activity(each) for each in activities if _is_for_service(each.get("Description", ""))]
        return ScalingGroup(
            desired=found[0]["DesiredCapacity"],
            members=tuple(Member(each["InstanceId"], each["LifecycleState"]) for each in found[0].get("Instances", [])),
            launches=tuple(sorted(launches, key=lambda launch: launch.started_at, reverse=True)),
        )

    def waiting(self, place: Place) -> frozenset[str]:
        """Ids of the instances in the group's warm pool; DescribeAutoScalingGroups leaves them out."""
        found: set[str] = set()
        more: dict[str, object] = {}
        for _ in range(_POOL_PAGES):
            page = self._autoscaling.describe_warm_pool(
                AutoScalingGroupName=place.auto_scaling_group, MaxRecords=_POOL_PAGE, **more
            )
            found |= {each["InstanceId"] for each in page["Instances"]}
            if not page.get("NextToken"):
                break
            more = {"NextToken": page["NextToken"]}
        return frozenset(found)

    def keep(self, place: Place, nodes: int) -> None:
        """Make the group want ``nodes``."""
        self._autoscaling.set_desired_capacity(AutoScalingGroupName=place.auto_scaling_group, DesiredCapacity=nodes)


def _is_for_service(description: str) -> bool:
    return description.startswith(_LAUNCH) and not description.startswith(_INTO_POOL)


def _activity(entry: dict[str, Any]) -> Activity:
    status = entry["StatusCode"]
    return Activity(
        started_at=entry["StartTime"],
        is_over=status in _OVER,
        has_failed=status in _FAILED,
        words=entry.get("StatusMessage") or entry.get("Cause", ""),
    )
