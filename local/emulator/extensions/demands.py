"""How many instances the account's compute environments and scaling groups want now."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import autoscaling, ec2

from fleet.instances import UnknownInstanceTypeError, instance_type
from local.emulator.batch.scheduler import Scheduler
from local.emulator.capacity.batch import ENVIRONMENT
from local.emulator.clock import EmulatorClock
from local.emulator.extensions.nodes import Demand
from local.emulator.resources.store import Resource, ResourceStore

_EVERY: Final = re.compile(r"\*(?:/(\d+))?( \*){4}")
_SINCE: Final = "_LookedAt"


def demands(resources: ResourceStore, clock: EmulatorClock, scheduler: Scheduler) -> Iterator[Demand]:
    """Everyone's wants in the region of the request."""
    for made in resources.of_type(get_region(), ENVIRONMENT):
        demand = _of_environment(made, scheduler)
        if demand is not None:
            yield demand
    _ask_as_scheduled(clock.now())
    for name in autoscaling._asgs:
        yield _of_group(autoscaling._asgs[name])


def _of_environment(made: Resource, scheduler: Scheduler) -> Demand | None:
    resources = made.properties.get("ComputeResources", {})
    template = resources.get("LaunchTemplate")
    names = resources.get("InstanceTypes", [])
    if resources.get("Type") not in ("EC2", "SPOT") or not template or not names:
        return None
    try:
        vcpus = instance_type(names[0]).vcpus
    except UnknownInstanceTypeError:
        return None
    most = resources.get("MaxvCpus", 0) // vcpus
    kept = math.ceil(resources.get("MinvCpus", 0) / vcpus)
    count = max(kept, min(scheduler.nodes_wanted(get_region(), made.physical_id), most))
    data = _template_data(template)
    group = resources.get("PlacementGroup") or _placement_group(data)
    subnets = tuple(resources.get("Subnets", []))
    return Demand(made.physical_id, count, names[0], subnets, group, data, scheduler.busy())


def _of_group(group: Mapping[str, Any]) -> Demand:
    subnets = tuple(each for each in group["VPCZoneIdentifier"].split(",") if each in ec2._subnets)
    data = _template_data(group.get("LaunchTemplate") or {})
    name = str(data.get("InstanceType", "t2.micro"))
    owner, count = group["AutoScalingGroupName"], group["DesiredCapacity"]
    return Demand(owner, count, name, subnets, _placement_group(data), data)


def _placement_group(data: Mapping[str, Any]) -> str:
    return str((data.get("Placement") or {}).get("GroupName", ""))


def _template_data(reference: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of the version that is referred to; empty for a template that is gone."""
    known = ec2._launch_templates.get(reference.get("LaunchTemplateId", ""))
    if not known:
        return {}
    named = {"$Default": known["DefaultVersionNumber"], "$Latest": known["LatestVersionNumber"]}
    wanted = str(named.get(reference.get("Version", "$Default"), reference.get("Version")))
    found = [each for each in known["Versions"] if str(each["VersionNumber"]) == wanted]
    data: Mapping[str, Any] = (found or known["Versions"])[-1].get("LaunchTemplateData", {})
    return data


def _ask_as_scheduled(now: float) -> None:
    """Scheduled actions that recur every so many minutes, which is all that is served of their schedules."""
    for key in autoscaling._scheduled_actions:
        action = autoscaling._scheduled_actions[key]
        every = _EVERY.fullmatch(action["Recurrence"])
        group = autoscaling._asgs.get(action["AutoScalingGroupName"])
        if every is None or group is None:
            continue
        seconds = int(every[1] or 1) * 60
        has_come = now // seconds > action.setdefault(_SINCE, now) // seconds
        action[_SINCE] = now
        if has_come and action["MinSize"] >= 0:
            group["MinSize"] = action["MinSize"]
            group["DesiredCapacity"] = max(group["DesiredCapacity"], group["MinSize"])
        if has_come and action["DesiredCapacity"] >= 0:
            group["DesiredCapacity"] = action["DesiredCapacity"]
