"""Bringing the account's instances to what is wanted of them whenever somebody looks at EC2 or at Auto Scaling.

How many instances the account's compute environments and scaling groups want now.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import autoscaling, ec2, resource_groups

from fleet.instances import UnknownInstanceTypeError, instance_type
from local.emulator.api.errors import Response
from local.emulator.api.query import Form
from local.emulator.batch.scheduler import Host, Scheduler
from local.emulator.capacity.batch import ENVIRONMENT
from local.emulator.capacity.placing import Placing
from local.emulator.clock import EmulatorClock
from local.emulator.extensions import auto_scaling, ecs
from local.emulator.extensions.nodes import Demand, Nodes
from local.emulator.platform import Platform
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


_LOOKS: Final = ("DescribeCapacityReservations", "DescribeInstances", "DescribeInstanceStatus")
# Filters of DescribeInstances beside those that ministack knows; it takes others for true.
_FILTERS: Final[Mapping[str, Callable[[Mapping[str, Any]], object]]] = {
    "availability-zone": lambda instance: instance["Placement"]["AvailabilityZone"],
    "capacity-reservation-id": lambda instance: instance.get("CapacityReservationId"),
    "instance-id": lambda instance: instance["InstanceId"],
    "subnet-id": lambda instance: instance["SubnetId"],
    "vpc-id": lambda instance: instance["VpcId"],
}


def keep_instances(platform: Platform) -> None:
    """``ec2._ACTION_MAP``, ``_instance_xml`` and ``_matches_filters``; ``autoscaling._ACTION_MAP``."""
    capacity, scheduler = platform.capacity, platform.capacity.scheduler
    nodes = Nodes(capacity.reservations, Placing(capacity.reservations, _members), platform.faults, platform.clock)

    def settle() -> None:
        # Before anybody is asked for: a job whose node was lost may need another one.
        scheduler.see(get_region(), _hosts(platform, nodes))
        launched = nodes.settle(list(demands(platform.resources, platform.clock, scheduler)))
        scheduler.see(get_region(), _hosts(platform, nodes))
        auto_scaling.show(nodes, capacity.scaling, launched)

    for action in _LOOKS:
        ec2._ACTION_MAP[action] = partial(_settled, settle, ec2._ACTION_MAP[action])
    auto_scaling.answer_auto_scaling(nodes, capacity.scaling, settle)
    ecs.run_on_instances(nodes, settle)
    # ministack makes up instances at once; here they are launched when somebody looks.
    autoscaling._reconcile_instances = lambda _group: None
    ec2._instance_xml = partial(_instance_xml, ec2._instance_xml)
    ec2._matches_filters = partial(_matches, ec2._matches_filters)


def _hosts(platform: Platform, nodes: Nodes) -> list[Host]:
    return [
        Host(instance["InstanceId"], made.physical_id, instance["PrivateIpAddress"])
        for made in platform.resources.of_type(get_region(), ENVIRONMENT)
        for instance in nodes.of(made.physical_id)
    ]


def _settled(settle: Callable[[], None], answer: Callable[[Form], Response], form: Form) -> Response:
    settle()
    return answer(form)


def _members(group_arn: str) -> list[str]:
    name = group_arn.rpartition("/")[2]
    return list(resource_groups._group_members.get(name) or [])


def _instance_xml(written: Callable[[Mapping[str, Any]], str], instance: Mapping[str, Any]) -> str:
    text = written(instance)
    if "CapacityReservationId" not in instance:
        return text
    end = text.rindex("</item>")
    return f"{text[:end]}<capacityReservationId>{instance['CapacityReservationId']}</capacityReservationId>{text[end:]}"


def _matches(
    known: Callable[[Mapping[str, Any], Mapping[str, list[str]]], bool],
    instance: Mapping[str, Any],
    filters: Mapping[str, list[str]],
) -> bool:
    own = {name: values for name, values in filters.items() if name in _FILTERS}
    return known(instance, filters) and all(_FILTERS[name](instance) in values for name, values in own.items())
