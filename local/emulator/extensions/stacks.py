"""The resource types that ministack's CloudFormation lacks or gets wrong.

CloudFormation's metric and composite alarms: the same checks, then the embedded CloudWatch's own Put operations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import cloudformation
from ministack.services.cloudformation import provisioners

from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.alarms import AlarmStore
from local.emulator.cloudwatch.service import CloudWatch
from local.emulator.extensions import launches, resource_groups
from local.emulator.extensions.auto_scaling import keep_policies
from local.emulator.platform import Platform
from local.emulator.resources.identity import generated_name
from local.emulator.resources.schemas import checked
from local.emulator.resources.store import Made, Resource, SchemaBackedHandler

SCHEMA_BACKED_TYPES: Final = (
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::AutoScaling::WarmPool",
    "AWS::Batch::ComputeEnvironment",
    "AWS::Batch::JobDefinition",
    "AWS::Batch::JobQueue",
    "AWS::Batch::SchedulingPolicy",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::AlarmMuteRule",
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::CapacityReservationFleet",
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::NatGateway",
    "AWS::EC2::NetworkAcl",
    "AWS::EC2::NetworkAclEntry",
    "AWS::EC2::NetworkInterface",
    "AWS::EC2::PlacementGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SubnetNetworkAclAssociation",
    "AWS::ECS::CapacityProvider",
    "AWS::ECS::ClusterCapacityProviderAssociations",
    "AWS::Logs::QueryDefinition",
    "AWS::ResourceGroups::Group",
    "AWS::SNS::TopicInlinePolicy",
    "AWS::SSM::Association",
    "AWS::SSM::Document",
)

# Attributes of Fn::GetAtt that ministack's own handlers leave out, and that are properties of the same name.
ECHOED_ATTRIBUTES: Final = {
    "AWS::EC2::VPC": ("CidrBlock",),
}


METRIC_ALARM = "AWS::CloudWatch::Alarm"
COMPOSITE_ALARM = "AWS::CloudWatch::CompositeAlarm"


@dataclass(frozen=True, slots=True)
class AlarmHandler:
    """Alarms of one kind, kept where the API keeps them."""

    type_name: str
    clock: EmulatorClock
    alarms_of_request: Callable[[], AlarmStore]

    def handlers(self) -> dict[str, Any]:
        """The functions in the form that ministack's CloudFormation calls them."""
        return {"create": self.create, "update": self.update, "update_with_logical_id": True, "delete": self.delete}

    def create(self, logical_id: str, properties: Mapping[str, Any], stack: str) -> Made:
        """Make the alarm; an unnamed one gets CloudFormation's kind of name."""
        return self._put(properties, generated_name(stack, logical_id))

    def update(
        self,
        physical_id: str,
        _old: Mapping[str, Any],
        new: Mapping[str, Any],
        _stack: str,
        _logical_id: str | None = None,
    ) -> Made:
        """Reconfigure; another name makes another alarm and deletes this one."""
        made = self._put(new, physical_id)
        if made[0] != physical_id:
            self.alarms_of_request().delete([physical_id])
        return made

    def _put(self, properties: Mapping[str, Any], default_name: str) -> Made:
        alarms = self.alarms_of_request()
        settings = checked(self.type_name, alarms.region, properties)
        request = {"AlarmName": default_name, **settings}
        put = alarms.put_metric_alarm if self.type_name == METRIC_ALARM else alarms.put_composite_alarm
        alarm = put(request, self.clock.now())
        return alarm.name, {"Arn": alarm.arn}

    def delete(self, physical_id: str, _properties: Mapping[str, Any]) -> None:
        """Delete the alarm; refused while a composite alarm needs it."""
        self.alarms_of_request().delete([physical_id])


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
        # The type schemas' createOnlyProperties, which ministack does not have of alarms: change sets say so.
        provisioners._REPLACING_PROPERTIES[type_name] = ("AlarmName",)
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
        "AWS::EC2::SecurityGroupEgress": (launches.allow, launches.withdraw),
        "AWS::EC2::SecurityGroupIngress": (launches.allow, launches.withdraw),
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
