"""The resource types that ministack's CloudFormation lacks or gets wrong."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ministack.core.responses import get_region
from ministack.services import cloudformation
from ministack.services.cloudformation import provisioners

from local.emulator.cloudwatch.service import CloudWatch
from local.emulator.extensions import resource_groups, security_groups
from local.emulator.extensions.auto_scaling import keep_policies
from local.emulator.platform import Platform
from local.emulator.resources.alarm_handler import COMPOSITE_ALARM, METRIC_ALARM, AlarmHandler
from local.emulator.resources.handler import Made, SchemaBackedHandler
from local.emulator.resources.store import Resource
from local.emulator.resources.types import ECHOED_ATTRIBUTES, SCHEMA_BACKED_TYPES

Hook = Callable[[Resource], None]


def register_resources(platform: Platform, cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """``_RESOURCE_HANDLERS``: a type that is in neither table fails the deploy as "Unrecognized resource types"."""
    for type_name in SCHEMA_BACKED_TYPES:
        if type_name not in provisioners._RESOURCE_HANDLERS:
            hooks = _hooks(platform, cloudwatch_of_request).get(type_name, (_nothing, _nothing))
            handler = SchemaBackedHandler(type_name, platform.account, get_region, platform.resources, *hooks)
            provisioners._RESOURCE_HANDLERS[type_name] = handler.handlers()
    for type_name, names in ECHOED_ATTRIBUTES.items():
        provisioners._RESOURCE_HANDLERS[type_name]["create"] = _with_attributes(
            provisioners._RESOURCE_HANDLERS[type_name]["create"], names
        )
    keep_policies(provisioners._RESOURCE_HANDLERS)
    for type_name in (METRIC_ALARM, COMPOSITE_ALARM):
        alarms = AlarmHandler(type_name, platform.clock, lambda: cloudwatch_of_request().alarms)
        provisioners._RESOURCE_HANDLERS[type_name] = alarms.handlers()


def _with_attributes(create: Callable[..., Made], names: Sequence[str]) -> Callable[..., Made]:
    """A handler that also answers Fn::GetAtt for properties which the template sets."""

    def create_with_attributes(logical_id: str, properties: Mapping[str, Any], stack: str) -> Made:
        physical_id, attributes = create(logical_id, properties, stack)
        return physical_id, {name: properties[name] for name in names if name in properties} | attributes

    return create_with_attributes


def _hooks(platform: Platform, cloudwatch_of_request: Callable[[], CloudWatch]) -> dict[str, tuple[Hook, Hook]]:
    """What happens beside the record of a resource when it is made or changed, and before it is deleted."""

    def mute(rule: Resource) -> None:
        cloudwatch_of_request().mute_rules.put({**rule.properties, "Name": _mute_rule_name(rule)})

    def unmute(rule: Resource) -> None:
        cloudwatch_of_request().mute_rules.delete({"AlarmMuteRuleName": _mute_rule_name(rule)})

    return {
        "AWS::CloudWatch::AlarmMuteRule": (mute, unmute),
        "AWS::EC2::CapacityReservation": (platform.capacity.reservations.begin, _nothing),
        "AWS::EC2::SecurityGroupEgress": (security_groups.allow, security_groups.withdraw),
        "AWS::EC2::SecurityGroupIngress": (security_groups.allow, security_groups.withdraw),
        "AWS::ResourceGroups::Group": (resource_groups.make, resource_groups.forget),
    }


def _mute_rule_name(rule: Resource) -> str:
    """The name in the template, or the generated one that the rule's ARN ends with."""
    return str(rule.properties.get("Name") or rule.physical_id.rpartition(":")[2])


def _nothing(_resource: Resource) -> None:
    """For a type without anything beside its record."""


def stacked_resources() -> int:
    """How many resources the deployed stacks hold, over all regions."""
    return sum(len(stack.get("_resources", {})) for stack in cloudformation._stacks._data.values())
