"""What is done to one instance of a scaling group: called unhealthy, ended, let go at its lifecycle hook."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ministack.services import autoscaling

from local.emulator.api.answers import Entry
from local.emulator.api.errors import AwsError
from local.emulator.extensions.nodes import Instance, Nodes, end, leaves, owner

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
