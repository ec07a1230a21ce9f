"""CloudWatch's API on top of the stores: one instance for a region, every operation by its name."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from local.alarm_evaluation import Action, Event, State, Transition
from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.alarm_queries import (
    describe_alarm_history,
    describe_alarms,
    describe_alarms_for_metric,
)
from local.emulator.cloudwatch.alarms import AlarmStore
from local.emulator.cloudwatch.errors import invalid
from local.emulator.cloudwatch.metric_data import get_metric_data, get_metric_statistics, list_metrics
from local.emulator.cloudwatch.metric_store import MetricStore
from local.emulator.cloudwatch.mute_rules import MuteRuleStore
from local.emulator.cloudwatch.notifications import message, subject, topics
from local.emulator.cloudwatch.put_metric_data import put_metric_data

Publish = Callable[[str, str, str], None]
Request = Mapping[str, Any]


class CloudWatch:
    """Metrics and alarms of one region. ``publish(topic_arn, subject, message)`` returns when it has delivered."""

    def __init__(self, account: str, region: str, clock: EmulatorClock, publish: Publish) -> None:
        self.metrics = MetricStore()
        self.alarms = AlarmStore(account, region, self.metrics)
        self.mute_rules = MuteRuleStore(f"arn:aws:cloudwatch:{region}:{account}", self.alarms, clock.now)
        self.clock = clock
        self._publish = publish
        self._evaluating = threading.Lock()

    def operation(self, name: str) -> Callable[[Request], dict[str, Any]] | None:
        """The function that answers an API operation, or ``None`` for one that is not served here."""
        return _OPERATIONS[name].__get__(self) if name in _OPERATIONS else None

    def evaluate(self, now: float) -> list[Transition]:
        """Evaluate every alarm at ``now``; returns when all notifications have been delivered."""
        with self._evaluating:
            events = self.alarms.advance(now)
            self._act(events)
        return [event for event in events if isinstance(event, Transition)]

    def _act(self, events: Sequence[Event]) -> None:
        """Deliver the actions that are due, in their order."""
        for event in events:
            alarm = self.alarms.get(event.alarm)
            if not isinstance(event, Action) or alarm is None:
                continue
            arns = topics(alarm, event.change)
            body = json.dumps(message(self.alarms, alarm, event.change)) if arns else ""
            for arn in arns:
                self._publish(arn, subject(event.change, self.alarms.region), body)

    def _put_metric_data(self, request: Request) -> dict[str, Any]:
        put_metric_data(self.metrics, request, self.clock.now())
        return {}

    def _put_metric_alarm(self, request: Request) -> dict[str, Any]:
        self.alarms.put_metric_alarm(request, self.clock.now())
        return {}

    def _put_composite_alarm(self, request: Request) -> dict[str, Any]:
        self.alarms.put_composite_alarm(request, self.clock.now())
        return {}

    def _delete_alarms(self, request: Request) -> dict[str, Any]:
        self.alarms.delete(request.get("AlarmNames") or [])
        return {}

    def _set_alarm_state(self, request: Request) -> dict[str, Any]:
        alarm = self.alarms.require(request["AlarmName"])
        if request["StateValue"] not in set(State):
            raise invalid(f"StateValue {request['StateValue']!r} is not one of {', '.join(State)}")
        data = request.get("StateReasonData") or "{}"
        state = State(request["StateValue"])
        self._act(self.alarms.set_state(alarm.name, state, request["StateReason"], data, self.clock.now()))
        return {}

    def _enable_alarm_actions(self, request: Request) -> dict[str, Any]:
        return self._switch_actions(request, enabled=True)

    def _disable_alarm_actions(self, request: Request) -> dict[str, Any]:
        return self._switch_actions(request, enabled=False)

    def _switch_actions(self, request: Request, *, enabled: bool) -> dict[str, Any]:
        self.alarms.switch_actions(request.get("AlarmNames") or [], enabled=enabled, now=self.clock.now())
        return {}

    def _put_alarm_mute_rule(self, request: Request) -> dict[str, Any]:
        return self.mute_rules.put(request)

    def _get_alarm_mute_rule(self, request: Request) -> dict[str, Any]:
        return self.mute_rules.get(request)

    def _list_alarm_mute_rules(self, request: Request) -> dict[str, Any]:
        return self.mute_rules.list(request)

    def _delete_alarm_mute_rule(self, request: Request) -> dict[str, Any]:
        return self.mute_rules.delete(request)

    def _get_metric_data(self, request: Request) -> dict[str, Any]:
        return get_metric_data(self.metrics, request)

    def _get_metric_statistics(self, request: Request) -> dict[str, Any]:
        return get_metric_statistics(self.metrics, request)

    def _list_metrics(self, request: Request) -> dict[str, Any]:
        return list_metrics(self.metrics, request)

    def _describe_alarms(self, request: Request) -> dict[str, Any]:
        return describe_alarms(self.alarms, request)

    def _describe_alarm_history(self, request: Request) -> dict[str, Any]:
        return describe_alarm_history(self.alarms, request)

    def _describe_alarms_for_metric(self, request: Request) -> dict[str, Any]:
        return describe_alarms_for_metric(self.alarms, request)


_OPERATIONS: Final[Mapping[str, Callable[[CloudWatch, Request], dict[str, Any]]]] = {
    "PutMetricData": CloudWatch._put_metric_data,
    "GetMetricData": CloudWatch._get_metric_data,
    "GetMetricStatistics": CloudWatch._get_metric_statistics,
    "ListMetrics": CloudWatch._list_metrics,
    "PutMetricAlarm": CloudWatch._put_metric_alarm,
    "PutCompositeAlarm": CloudWatch._put_composite_alarm,
    "DescribeAlarms": CloudWatch._describe_alarms,
    "DescribeAlarmHistory": CloudWatch._describe_alarm_history,
    "DescribeAlarmsForMetric": CloudWatch._describe_alarms_for_metric,
    "DeleteAlarms": CloudWatch._delete_alarms,
    "SetAlarmState": CloudWatch._set_alarm_state,
    "EnableAlarmActions": CloudWatch._enable_alarm_actions,
    "DisableAlarmActions": CloudWatch._disable_alarm_actions,
    "PutAlarmMuteRule": CloudWatch._put_alarm_mute_rule,
    "GetAlarmMuteRule": CloudWatch._get_alarm_mute_rule,
    "ListAlarmMuteRules": CloudWatch._list_alarm_mute_rules,
    "DeleteAlarmMuteRule": CloudWatch._delete_alarm_mute_rule,
}
