"""The alarms of one region: their settings as given, their state, their history."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from local.alarm_evaluation import Action, AlarmSet, Definition, Event, SeriesSource, State, Transition
from local.alarm_evaluation.composite_rules import Rule
from local.alarm_evaluation.promql import Evaluation, Labels, SeriesStore
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
from local.emulator.cloudwatch.otlp import Sample
from local.emulator.cloudwatch.promql_alarms import PromqlAlarms, check_promql_alarm, criteria

_HISTORY_KEPT: Final = 10_000
# As far back as a query may look here; rules look back an hour.
SERIES_KEPT_SECONDS: Final = 6 * 3600.0


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
        self.series = SeriesStore(SERIES_KEPT_SECONDS)
        self.promql = PromqlAlarms(Evaluation(self.series))
        self.evaluation = AlarmSet(metrics, self.promql.state)
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
        """Create or reconfigure; an update keeps the state, and a new alarm on PromQL begins as OK."""
        if criteria(request) is None:
            return self._put(request, check_metric_alarm(request), None, now)
        with self._lock:
            self.promql.put(check_promql_alarm(request), float(request["EvaluationInterval"]))
            alarm = self._put(request, None, None, now)
            if alarm.state is State.INSUFFICIENT_DATA:
                alarm.state = State.OK
        return alarm

    def put_composite_alarm(self, request: Mapping[str, Any], now: float) -> Alarm:
        """Create or reconfigure; the alarms in its rule must exist, and its suppressor."""
        rule = check_composite_alarm(request, self._alarms.keys())
        return self._put(request, composite_alarm(request, rule), rule, now)

    def _put(self, request: Mapping[str, Any], definition: Definition | None, rule: Rule | None, now: float) -> Alarm:
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
            if definition is None:
                # The alarm may have been one on metrics.
                self.evaluation.remove(name)
            else:
                self.evaluation.put(definition, now)
                self.promql.remove(name)
        return alarm

    def switch_actions(self, names: Sequence[str], *, enabled: bool, now: float) -> None:
        """EnableAlarmActions and DisableAlarmActions."""
        for alarm in [self.require(name) for name in names]:
            with self._lock:
                alarm.settings["ActionsEnabled"] = enabled
                if criteria(alarm.settings) is not None:
                    continue
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
                self.promql.remove(name)

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

    def follow(self, now: float) -> list[tuple[Transition, Labels | None]]:
        """Evaluate the alarms on PromQL that are due: what is to be told, of contributors and of alarms themselves."""
        told: list[tuple[Transition, Labels | None]] = []
        with self._lock:
            for alarm in [each for each in self._alarms.values() if criteria(each.settings) is not None]:
                self.promql.evaluate(alarm.name, now)
                for event in self.promql.due(alarm.name, muted=self.evaluation.is_muted(alarm.name, now)):
                    before = State.OK if event.state is State.ALARM else State.ALARM
                    told.append((Transition(alarm.name, before, event.state, event.at, ""), event.contributor))
                state = self.promql.state(alarm.name)
                if state is not None and state is not alarm.state:
                    active = len(self.promql.described(alarm.name))
                    reason = f"{active} time series evaluated to {State.ALARM}"
                    told.append((self._transition(Transition(alarm.name, alarm.state, state, now, reason)), None))
        return told

    def put_series(self, samples: Iterable[Sample]) -> None:
        """Keep what came over OTLP."""
        with self._lock:
            for each in samples:
                self.series.put(each.metric, each.labels, each.at, each.value)

    def set_state(self, name: str, state: State, reason: str, reason_data: str, now: float) -> list[Event]:
        """SetAlarmState, with what follows from it at once."""
        alarm = self.require(name)
        with self._lock:
            if criteria(alarm.settings) is not None:
                change = self._transition(Transition(alarm.name, alarm.state, state, now, reason))
                return [change, Action(alarm.name, now, change)]
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
