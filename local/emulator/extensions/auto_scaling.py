"""Auto Scaling over ``autoscaling._ACTION_MAP``: groups of stacks show their instances, or why they have none.

What is done to one instance of a scaling group: called unhealthy, ended, let go at its lifecycle hook.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import autoscaling, ec2

from local.emulator.api.answers import Entry
from local.emulator.api.errors import AwsError, Response
from local.emulator.api.query import Form, served
from local.emulator.capacity.scaling import FAILED, SUCCESSFUL, ScalingActivities
from local.emulator.extensions.nodes import Instance, Nodes, end, leaves, owner
from local.emulator.extensions.scaling_policies import COLLECTS, with_suspended

_TERMINATING: Final = "autoscaling:EC2_INSTANCE_TERMINATING"


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """The operations over the account's instances. An unhealthy one is ended at once; AWS takes a moment."""

    nodes: Nodes

    def actions(self) -> dict[str, Callable[[dict[str, Any]], Entry]]:
        """The operations by their names."""
        return {
            "SetInstanceHealth": self._set_health,
            "TerminateInstanceInAutoScalingGroup": self._terminate,
            "CompleteLifecycleAction": self._complete,
        }

    def _set_health(self, request: dict[str, Any]) -> Entry:
        if request["HealthStatus"] == "Unhealthy":
            self._end(self._member(request))
        return {}

    def _terminate(self, request: dict[str, Any]) -> Entry:
        instance = self._member(request)
        if request["ShouldDecrementDesiredCapacity"]:
            autoscaling._asgs[owner(instance)]["DesiredCapacity"] -= 1
        self._end(instance)
        return {}

    def _complete(self, request: dict[str, Any]) -> Entry:
        instance = self._member(request)
        if not leaves(instance):
            raise AwsError(
                "ValidationError", f"No active Lifecycle Action found with instance ID {request['InstanceId']}"
            )
        end(instance, waits=False)
        return {}

    def _member(self, request: Mapping[str, Any]) -> Instance:
        found = self.nodes.member(request["InstanceId"])
        if found is None or owner(found) not in autoscaling._asgs:
            raise AwsError("ValidationError", f"No managed instance found for instance ID: {request['InstanceId']}")
        return found

    def _end(self, instance: Instance) -> None:
        hooks = (autoscaling._hooks[key] for key in autoscaling._hooks)
        waits = any(
            (hook["AutoScalingGroupName"], hook["LifecycleTransition"]) == (owner(instance), _TERMINATING)
            for hook in hooks
        )
        end(instance, waits=waits)


Launched = Mapping[str, tuple[list[str], AwsError | None]]


def answer_auto_scaling(nodes: Nodes, activities: ScalingActivities, settle: Callable[[], None]) -> None:
    """Whoever looks at the groups finds them settled."""

    def groups(describe: Any, form: Form) -> Response:  # noqa: ANN401 - ministack's own action
        settle()
        status, headers, body = describe(form)
        return status, headers, with_suspended(body)

    def scaling_activities(request: Mapping[str, Any]) -> Entry:
        settle()
        name = request.get("AutoScalingGroupName")
        _exists(name)
        return activities.describe(get_region(), [name] if name else list(autoscaling._asgs), request)

    def warm_pool(request: Mapping[str, Any]) -> Entry:
        # A stack may have one; nodes that would be stopped are not made, and those that come are new ones.
        _exists(request["AutoScalingGroupName"])
        return {"Instances": []}

    actions = autoscaling._ACTION_MAP
    for action in ("DescribeAutoScalingGroups", "DescribeAutoScalingInstances"):
        actions[action] = partial(groups, actions[action])
    for action, serve in GroupMembers(nodes).actions().items():
        actions[action] = served("autoscaling", action, serve)
    actions["DescribeWarmPool"] = served("autoscaling", "DescribeWarmPool", warm_pool)
    actions["DescribeScalingActivities"] = served("autoscaling", "DescribeScalingActivities", scaling_activities)


def _exists(name: str | None) -> None:
    if name is not None and name not in autoscaling._asgs:
        raise AwsError("ValidationError", f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")


def keep_policies(handlers: Mapping[str, dict[str, Any]]) -> None:
    """Groups of stacks with a mixed instances policy, which ministack leaves out: launched from its first template.

    And what CloudFormation documents of an update whose template names no desired capacity: it stays as it is.
    """
    made = handlers["AWS::AutoScaling::AutoScalingGroup"]
    create, update = made["create"], made["update"]

    def created(logical_id: str, properties: Mapping[str, Any], stack: str) -> Any:  # noqa: ANN401 - ministack's own
        answer = create(logical_id, _launched_from_one(properties), stack)
        autoscaling._asgs[answer[0]][COLLECTS] = bool(properties.get("MetricsCollection"))
        return answer

    def updated(name: str, old: Mapping[str, Any], new: Mapping[str, Any], *rest: Any) -> Any:  # noqa: ANN401 - ministack's own
        known = autoscaling._asgs.get(name)
        kept = {"DesiredCapacity": known["DesiredCapacity"]} if known else {}
        if known:
            known[COLLECTS] = bool(new.get("MetricsCollection"))
        return update(name, old, kept | _launched_from_one(new), *rest)

    made.update(create=created, update=updated)


def _launched_from_one(properties: Mapping[str, Any]) -> dict[str, Any]:
    policy = properties.get("MixedInstancesPolicy")
    if not policy:
        return dict(properties)
    return {**properties, "LaunchTemplate": policy["LaunchTemplate"]["LaunchTemplateSpecification"]}


def show(nodes: Nodes, activities: ScalingActivities, launched: Launched) -> None:
    """Write into every group what was launched for it, and what could not be."""
    for name in autoscaling._asgs:
        group = autoscaling._asgs[name]
        subnets = [each for each in group["VPCZoneIdentifier"].split(",") if each in ec2._subnets]
        if subnets:
            zones = (ec2._subnets[each]["AvailabilityZone"] for each in subnets)
            group["AvailabilityZones"] = list(dict.fromkeys(zones))
        ids, error = launched[name]
        for each in ids:
            activities.record(get_region(), name, SUCCESSFUL, each)
        if error is not None:
            activities.record(get_region(), name, FAILED, f"{error.message} Launching EC2 instance failed.")
        group["Instances"] = [_member(group, each) for each in nodes.of(name)]


def _member(group: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    return {
        "InstanceId": instance["InstanceId"],
        "LifecycleState": "Terminating:Wait" if leaves(instance) else "InService",
        "HealthStatus": "Healthy",
        "AvailabilityZone": instance["Placement"]["AvailabilityZone"],
        "ProtectedFromScaleIn": group["NewInstancesProtectedFromScaleIn"],
        "LaunchTemplate": group.get("LaunchTemplate") or {},
        "LaunchConfigurationName": group.get("LaunchConfigurationName", ""),
    }
