"""Scaling policies that act: a group's metrics each minute, the alarms of target tracking, and what alarms call.

``autoscaling._ACTION_MAP`` for SuspendProcesses and ResumeProcesses, and ``cloudwatch.cloudformation_put_metric_alarm``
and ``…_delete_metric_alarm``, with which ministack keeps target tracking's alarms where nobody evaluates them.

What EC2 Auto Scaling makes of a policy whose alarm is on: the group's new number of nodes.

Sources: EC2 Auto Scaling user guide, "Target tracking scaling policies" (in proportion, rounded up; what warms up
counts as there), "Step and simple scaling policies" (only simple ones pause the group), "Suspend and resume processes".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ministack.core.responses import request_scope
from ministack.services import autoscaling, cloudwatch

from fleet import auto_scaling
from fleet.serving.scaling import nodes_for
from local.alarm_evaluation import SeriesKey, State
from local.alarm_evaluation.statistics import Datum
from local.emulator.api.answers import Entry
from local.emulator.api.query import served
from local.emulator.cloudwatch.alarms import Alarm
from local.emulator.cloudwatch.service import CloudWatch

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


COLLECTS: Final = "_CollectsMetrics"
_MINUTE: Final = 60
# Of what ministack writes into an alarm, what PutMetricAlarm takes.
_ANSWERED: Final = frozenset({
    "AlarmArn", "StateValue", "StateReason", "StateUpdatedTimestamp", "AlarmConfigurationUpdatedTimestamp",
})  # fmt: skip


class GroupScaling:
    """Before alarms are evaluated groups are measured; after it, alarms that are on call their policies."""

    def __init__(self, account: str) -> None:
        self._account, self._policies = account, ScalingPolicies()

    def measure(self, region: str, service: CloudWatch, now: float) -> None:
        """The metrics of groups that collect them, for the minute that ends."""
        with request_scope(self._account, region):
            for name in autoscaling._asgs:
                group = autoscaling._asgs[name]
                if group.get(COLLECTS):
                    desired = int(group["DesiredCapacity"])
                    there = sum(each["LifecycleState"] == "InService" for each in group["Instances"])
                    for metric, value in (
                        (auto_scaling.DESIRED, desired),
                        (auto_scaling.IN_SERVICE, min(there, desired)),
                    ):
                        key = SeriesKey(auto_scaling.NAMESPACE, metric, frozenset(auto_scaling.dimensions(name)))
                        service.metrics.put(key, now - 1, "None", Datum.of_values([value]))

    def act(self, region: str, service: CloudWatch, now: float) -> None:
        """Every alarm that is on calls its policies once more, each minute (CloudWatch user guide, alarm actions)."""
        with request_scope(self._account, region):
            for alarm in service.alarms.metric_alarms():
                if alarm.state is State.ALARM and alarm.settings.get("ActionsEnabled", True):
                    for arn in alarm.settings.get("AlarmActions") or ():
                        self._call(str(arn), alarm, service, now)

    def _call(self, arn: str, alarm: Alarm, service: CloudWatch, now: float) -> None:
        policy = next((each for each in autoscaling._policies.values() if each["PolicyARN"] == arn), None)
        group = autoscaling._asgs.get(policy["AutoScalingGroupName"]) if policy else None
        if policy is not None and group is not None:
            load = _newest(alarm.settings, service, now)
            group["DesiredCapacity"] = self._policies.wanted(policy, group, load, now)


def follow_alarms(cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """Change ministack, once."""

    def put(alarm: Mapping[str, Any]) -> None:
        service = cloudwatch_of_request()
        request = {name: value for name, value in alarm.items() if name not in _ANSWERED}
        service.alarms.put_metric_alarm(request, service.clock.now())

    def delete(name: str, _refuse_dependents: bool = False) -> None:
        cloudwatch_of_request().alarms.delete([name])

    def suspend(request: Mapping[str, Any]) -> Entry:
        _processes(request).update(request.get("ScalingProcesses") or ())
        return {}

    def resume(request: Mapping[str, Any]) -> Entry:
        _processes(request).difference_update(request.get("ScalingProcesses") or ())
        return {}

    cloudwatch.cloudformation_put_metric_alarm = put
    cloudwatch.cloudformation_delete_metric_alarm = delete
    for action, serve in (("SuspendProcesses", suspend), ("ResumeProcesses", resume)):
        autoscaling._ACTION_MAP[action] = served("autoscaling", action, serve)


def with_suspended(answer: bytes) -> bytes:
    """DescribeAutoScalingGroups with the processes that stand still, which ministack leaves out."""
    for name in autoscaling._asgs:
        found = "".join(
            f"<member><ProcessName>{each}</ProcessName><SuspensionReason>User suspended</SuspensionReason></member>"
            for each in sorted(autoscaling._asgs[name].get(SUSPENDED, ()))
        )
        own = f"<AutoScalingGroupName>{name}</AutoScalingGroupName><AutoScalingGroupARN>".encode()
        answer = answer.replace(own, f"<SuspendedProcesses>{found}</SuspendedProcesses>".encode() + own)
    return answer


def _processes(request: Mapping[str, Any]) -> set[str]:
    suspended: set[str] = autoscaling._asgs[request["AutoScalingGroupName"]].setdefault(SUSPENDED, set())
    return suspended


def _newest(settings: Mapping[str, Any], service: CloudWatch, now: float) -> float | None:
    """The newest value of the one metric that target tracking's alarm watches."""
    if not settings.get("MetricName"):
        return None
    key = SeriesKey.of(settings["Namespace"], settings["MetricName"], settings.get("Dimensions") or [])
    end = int(now // _MINUTE * _MINUTE)
    found = service.metrics.values(key, settings["Statistic"], end - 3 * _MINUTE, end, _MINUTE)
    return found[max(found)] if found else None
