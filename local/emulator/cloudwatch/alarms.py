"""The alarms of one region: their settings as given, their state, their history."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fleet.alarm_evaluation import State
from fleet.alarm_evaluation.composite_rules import Rule
from local.emulator.cloudwatch.alarm_requests import check_composite_alarm, check_metric_alarm
from local.emulator.cloudwatch.errors import ApiError, validation

_HISTORY_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Transition:
    """An alarm that changed its state; ``at`` in unix seconds."""

    alarm: str
    previous: State
    state: State
    at: float
    reason: str


@dataclass(slots=True)
class Alarm:
    """One alarm. ``rule`` is for composite alarms only; ``order`` numbers the store's transitions up to its last."""

    name: str
    arn: str
    settings: dict[str, Any]
    configured_at: float
    updated_at: float
    rule: Rule | None = None
    state: State = State.INSUFFICIENT_DATA
    reason: str = "Unchecked: Initial alarm creation"
    reason_data: str = "{}"
    tags: dict[str, str] = field(default_factory=dict)
    order: int = 0

    def described(self) -> dict[str, Any]:
        """As DescribeAlarms answers it."""
        defaults = {"ActionsEnabled": True, "OKActions": [], "AlarmActions": [], "InsufficientDataActions": []}
        return {
            **defaults,
            **self.settings,
            "AlarmArn": self.arn,
            "StateValue": self.state.value,
            "StateReason": self.reason,
            "StateReasonData": self.reason_data,
            "StateUpdatedTimestamp": self.updated_at,
            "StateTransitionedTimestamp": self.updated_at,
            "AlarmConfigurationUpdatedTimestamp": self.configured_at,
        }


class AlarmStore:
    """Put, describe and delete alarms; ``transition`` is the one place where a state changes."""

    def __init__(self, account: str, region: str) -> None:
        self.account = account
        self.region = region
        self.history: list[dict[str, Any]] = []
        self._alarms: dict[str, Alarm] = {}
        self._transitions = 0

    def get(self, name: str) -> Alarm | None:
        """The alarm of this name or ARN."""
        return self._alarms.get(name.partition(":alarm:")[2] or name)

    def metric_alarms(self) -> Sequence[Alarm]:
        """All metric alarms, oldest first."""
        return [alarm for alarm in self._alarms.values() if alarm.rule is None]

    def composite_alarms(self) -> Sequence[Alarm]:
        """All composite alarms, oldest first, so that a child comes before the composites above it."""
        return [alarm for alarm in self._alarms.values() if alarm.rule is not None]

    def put_metric_alarm(self, request: Mapping[str, Any], now: float) -> Alarm:
        """Create or reconfigure; an update keeps the state."""
        check_metric_alarm(request)
        return self._put(request, None, now)

    def put_composite_alarm(self, request: Mapping[str, Any], now: float) -> Alarm:
        """Create or reconfigure; the alarms in its rule must exist."""
        return self._put(request, check_composite_alarm(request, self._alarms.keys()), now)

    def _put(self, request: Mapping[str, Any], rule: Rule | None, now: float) -> Alarm:
        name = request["AlarmName"]
        settings = {key: value for key, value in request.items() if key != "Tags" and value is not None}
        alarm = self._alarms.get(name)
        if alarm is None:
            arn = f"arn:aws:cloudwatch:{self.region}:{self.account}:alarm:{name}"
            tags = {tag["Key"]: tag["Value"] for tag in request.get("Tags") or []}
            alarm = self._alarms[name] = Alarm(name, arn, settings, now, now, rule, tags=tags)
            self._record(alarm, "ConfigurationUpdate", f'Alarm "{name}" created', {}, now)
        else:
            alarm.settings, alarm.rule, alarm.configured_at = settings, rule, now
            self._record(alarm, "ConfigurationUpdate", f'Alarm "{name}" updated', {}, now)
        return alarm

    def delete(self, names: Sequence[str]) -> None:
        """Delete alarms; one that a remaining composite alarm needs is refused."""
        for parent in self.composite_alarms():
            needed = [name for name in names if parent.rule and name in parent.rule.alarms and name in self._alarms]
            if needed and parent.name not in names:
                raise validation(f"Cannot delete {needed[0]} as there are composite alarm(s) depending on it.")
        for name in names:
            self._alarms.pop(name, None)

    def transition(self, alarm: Alarm, state: State, reason: str, at: float, reason_data: str = "{}") -> Transition:
        """Move an alarm into a state and write it into the history."""
        change = Transition(alarm.name, alarm.state, state, at, reason)
        self._transitions += 1
        alarm.order = self._transitions
        alarm.state, alarm.reason, alarm.reason_data, alarm.updated_at = state, reason, reason_data, at
        data = {
            "oldState": {"stateValue": change.previous.value},
            "newState": {"stateValue": state.value, "stateReason": reason},
        }
        self._record(alarm, "StateUpdate", f"Alarm updated from {change.previous} to {state}", data, at)
        return change

    def _record(self, alarm: Alarm, kind: str, summary: str, data: Mapping[str, Any], at: float) -> None:
        self.history.append(
            {
                "AlarmName": alarm.name,
                "AlarmType": "MetricAlarm" if alarm.rule is None else "CompositeAlarm",
                "Timestamp": at,
                "HistoryItemType": kind,
                "HistorySummary": summary,
                "HistoryData": json.dumps(data),
            }
        )
        del self.history[:-_HISTORY_KEPT]

    def require(self, name: str) -> Alarm:
        """The alarm, or the API's refusal."""
        alarm = self.get(name)
        if alarm is None:
            raise ApiError("ResourceNotFound", f"Alarm {name} does not exist", 404)
        return alarm
