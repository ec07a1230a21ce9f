"""CloudFormation's metric and composite alarms: the same checks, then the embedded CloudWatch's own Put operations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.alarms import AlarmStore
from local.emulator.resources.handler import Made
from local.emulator.resources.identity import generated_name
from local.emulator.resources.schemas import checked

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
