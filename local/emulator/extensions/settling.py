"""Bringing the account's instances to what is wanted of them whenever somebody looks at EC2 or at Auto Scaling."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import autoscaling, ec2, resource_groups

from local.emulator.api.errors import Response
from local.emulator.api.query import Form
from local.emulator.batch.scheduler import Host
from local.emulator.capacity.batch import ENVIRONMENT
from local.emulator.capacity.placing import Placing
from local.emulator.extensions import auto_scaling, container_instances
from local.emulator.extensions.demands import demands
from local.emulator.extensions.nodes import Nodes
from local.emulator.platform import Platform

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
    container_instances.run_on_instances(nodes, settle)
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
