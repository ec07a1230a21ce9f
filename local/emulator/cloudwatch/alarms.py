"""The alarms of one region: their settings as given, their state, their history."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from local.alarm_evaluation import Action, AlarmSet, Definition, Event, SeriesSource, State, Transition
from local.alarm_evaluation.composite_rules import Rule
from local.alarm_evaluation.suppression import MuteRule
from local.emulator.cloudwatch.alarm_requests import check_composite_alarm, check_metric_alarm
from local.emulator.cloudwatch.definitions import (
    alarm_name,
    composite_alarm,
    composite_reason,
    metric_alarm,
    triggering_alarms,
)
from local.emulator.cloudwatch.errors import ApiError, validation

_HISTORY_KEPT: Final = 10_000


@dataclass(slots=True)
class Alarm:
    """One alarm as the API shows it. ``rule`` is for composite alarms only."""

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
    """Put, describe and delete alarms. Their states are the evaluator's, which no other place changes."""

    def __init__(self, account: str, region: str, metrics: SeriesSource) -> None:
        self.account = account
        self.region = region
        self.history: list[dict[str, Any]] = []
        self.evaluation = AlarmSet(metrics)
        self._alarms: dict[str, Alarm] = {}
        # Requests and the evaluation of a minute come from different threads.
        self._lock = threading.RLock()

    def get(self, name: str) -> Alarm | None:
        """The alarm of this name or ARN."""
        return self._alarms.get(alarm_name(name))

    def metric_alarms(self) -> Sequence[Alarm]:
        """All metric alarms, oldest first."""
        return [alarm for alarm in list(self._alarms.values()) if alarm.rule is None]

    def composite_alarms(self) -> Sequence[Alarm]:
        """All composite alarms, oldest first."""
        return [alarm for alarm in list(self._alarms.values()) if alarm.rule is not None]

    def put_metric_alarm(self, request: Mapping[str, Any], now: float) -> Alarm:
        """Create or reconfigure; an update keeps the state."""
        return self._put(request, check_metric_alarm(request), None, now)

    def put_composite_alarm(self, request: Mapping[str, Any], now: float) -> Alarm:
        """Create or reconfigure; the alarms in its rule must exist, and its suppressor."""
        rule = check_composite_alarm(request, self._alarms.keys())
        return self._put(request, composite_alarm(request, rule), rule, now)

    def _put(self, request: Mapping[str, Any], definition: Definition, rule: Rule | None, now: float) -> Alarm:
        name = request["AlarmName"]
        settings = {key: value for key, value in request.items() if key != "Tags" and value is not None}
        with self._lock:
            alarm = self._alarms.get(name)
            if alarm is None:
                arn = f"arn:aws:cloudwatch:{self.region}:{self.account}:alarm:{name}"
                tags = {tag["Key"]: tag["Value"] for tag in request.get("Tags") or []}
                alarm = self._alarms[name] = Alarm(name, arn, settings, now, now, rule, tags=tags)
                self._record(alarm, "ConfigurationUpdate", f'Alarm "{name}" created', {}, now)
            else:
                alarm.settings, alarm.rule, alarm.configured_at = settings, rule, now
                self._record(alarm, "ConfigurationUpdate", f'Alarm "{name}" updated', {}, now)
            self.evaluation.put(definition, now)
        return alarm

    def switch_actions(self, names: Sequence[str], *, enabled: bool, now: float) -> None:
        """EnableAlarmActions and DisableAlarmActions."""
        for alarm in [self.require(name) for name in names]:
            with self._lock:
                alarm.settings["ActionsEnabled"] = enabled
                rule = alarm.rule
                definition = composite_alarm(alarm.settings, rule) if rule else metric_alarm(alarm.settings)
                self.evaluation.put(definition, now)

    def delete(self, names: Sequence[str]) -> None:
        """Delete alarms; one that a remaining composite alarm needs is refused."""
        for parent in self.composite_alarms():
            needed = [name for name in names if parent.rule and name in parent.rule.alarms and name in self._alarms]
            if needed and parent.name not in names:
                raise validation(f"Cannot delete {needed[0]} as there are composite alarm(s) depending on it.")
        with self._lock:
            for name in names:
                self._alarms.pop(name, None)
                self.evaluation.remove(name)

    def mute(self, rule: MuteRule) -> None:
        """Add or replace a mute rule."""
        with self._lock:
            self.evaluation.mute(rule)

    def unmute(self, name: str) -> None:
        """Take a mute rule away."""
        with self._lock:
            self.evaluation.unmute(name)

    def advance(self, now: float) -> list[Event]:
        """Evaluate every alarm at ``now`` and write the transitions into the history."""
        with self._lock:
            return self._recorded(self.evaluation.advance(now))

    def set_state(self, name: str, state: State, reason: str, reason_data: str, now: float) -> list[Event]:
        """SetAlarmState, with what follows from it at once."""
        alarm = self.require(name)
        with self._lock:
            events = self._recorded(self.evaluation.set_state(alarm.name, state, reason, now))
            alarm.reason_data = reason_data
        return events

    def _recorded(self, events: list[Event]) -> list[Event]:
        """The events, with the reasons of composites in CloudWatch's words."""
        recorded: list[Event] = []
        changes: dict[str, Transition] = {}
        for event in events:
            if isinstance(event, Transition):
                changes[event.alarm] = self._transition(event)
                recorded.append(changes[event.alarm])
            else:
                change = replace(event.change, reason=self._alarms[event.alarm].reason)
                recorded.append(Action(event.alarm, event.at, changes.get(event.alarm, change)))
        return recorded

    def _transition(self, change: Transition) -> Transition:
        alarm = self._alarms[change.alarm]
        data: dict[str, Any] = {}
        if alarm.rule is not None:
            triggers = triggering_alarms(change, lambda name: self.require(name).arn)
            change, data = replace(change, reason=composite_reason(triggers)), {"triggeringAlarms": triggers}
        alarm.state, alarm.reason, alarm.updated_at = change.state, change.reason, change.at
        alarm.reason_data = json.dumps(data)
        history = {
            "oldState": {"stateValue": change.previous.value},
            "newState": {"stateValue": change.state.value, "stateReason": change.reason},
        }
        self._record(
            alarm, "StateUpdate", f"Alarm updated from {change.previous} to {change.state}", history, change.at
        )
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
