"""CloudWatch's API on top of the stores: one instance for a region, every operation by its name."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from local.alarm_evaluation import Action, Event, State, Transition
from local.alarm_evaluation.promql import Labels
from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.alarm_queries import (
    describe_alarm_contributors,
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
from local.emulator.cloudwatch.otlp import samples
from local.emulator.cloudwatch.put_metric_data import put_metric_data

Publish = Callable[[str, str, str], None]
Request = Mapping[str, Any]
Operation = Callable[[Request], Mapping[str, Any] | None]
"""Answers a request; None is an answer without members."""


class CloudWatch:
    """Metrics and alarms of one region. ``publish(topic_arn, subject, message)`` returns when it has delivered."""

    def __init__(self, account: str, region: str, clock: EmulatorClock, publish: Publish) -> None:
        self.metrics = MetricStore()
        self.alarms = AlarmStore(account, region, self.metrics)
        self.mute_rules = MuteRuleStore(f"arn:aws:cloudwatch:{region}:{account}", self.alarms, clock.now)
        self.clock = clock
        self._publish = publish
        self._evaluating = threading.Lock()
        metrics, alarms, now = self.metrics, self.alarms, clock.now
        self._operations: dict[str, Operation] = {
            "PutMetricData": lambda request: put_metric_data(metrics, request, now()),
            "GetMetricData": partial(get_metric_data, metrics),
            "GetMetricStatistics": partial(get_metric_statistics, metrics),
            "ListMetrics": partial(list_metrics, metrics),
            "PutMetricAlarm": self._put_metric_alarm,
            "PutCompositeAlarm": self._put_composite_alarm,
            "DescribeAlarms": partial(describe_alarms, alarms),
            "DescribeAlarmHistory": partial(describe_alarm_history, alarms),
            "DescribeAlarmsForMetric": partial(describe_alarms_for_metric, alarms),
            "DescribeAlarmContributors": partial(describe_alarm_contributors, alarms),
            "DeleteAlarms": lambda request: alarms.delete(request.get("AlarmNames") or []),
            "SetAlarmState": self._set_alarm_state,
            "EnableAlarmActions": partial(self._switch_actions, enabled=True),
            "DisableAlarmActions": partial(self._switch_actions, enabled=False),
            "PutAlarmMuteRule": self.mute_rules.put,
            "GetAlarmMuteRule": self.mute_rules.get,
            "ListAlarmMuteRules": self.mute_rules.list,
            "DeleteAlarmMuteRule": self.mute_rules.delete,
        }

    def operation(self, name: str) -> Operation | None:
        """The function that answers an API operation, or ``None`` for one that is not served here."""
        return self._operations.get(name)

    def evaluate(self, now: float) -> list[Transition]:
        """Evaluate every alarm at ``now``; returns when all notifications have been delivered."""
        with self._evaluating:
            # First: a composite may read an alarm that follows contributors.
            followed = self.alarms.follow(now)
            events = self.alarms.advance(now)
            self._act(events)
            for change, contributor in followed:
                self._tell(change, contributor)
        of_alarms = [change for change, contributor in followed if contributor is None]
        return [*of_alarms, *(event for event in events if isinstance(event, Transition))]

    def take_series(self, body: bytes, headers: Mapping[str, str]) -> None:
        """A request to the endpoint for OTLP metrics."""
        self.alarms.put_series(samples(body, headers, self.clock.now()))

    def _act(self, events: Sequence[Event]) -> None:
        """Deliver the actions that are due, in their order."""
        for event in events:
            if isinstance(event, Action):
                self._tell(event.change, None)

    def _tell(self, change: Transition, contributor: Labels | None) -> None:
        alarm = self.alarms.get(change.alarm)
        arns = topics(alarm, change) if alarm else []
        body = json.dumps(message(self.alarms, alarm, change, contributor)) if alarm and arns else ""
        for arn in arns:
            self._publish(arn, subject(change, self.alarms.region), body)

    def _put_metric_alarm(self, request: Request) -> None:
        self.alarms.put_metric_alarm(request, self.clock.now())

    def _put_composite_alarm(self, request: Request) -> None:
        self.alarms.put_composite_alarm(request, self.clock.now())

    def _set_alarm_state(self, request: Request) -> None:
        alarm = self.alarms.require(request["AlarmName"])
        if request["StateValue"] not in set(State):
            raise invalid(f"StateValue {request['StateValue']!r} is not one of {', '.join(State)}")
        data = request.get("StateReasonData") or "{}"
        state = State(request["StateValue"])
        self._act(self.alarms.set_state(alarm.name, state, request["StateReason"], data, self.clock.now()))

    def _switch_actions(self, request: Request, *, enabled: bool) -> None:
        self.alarms.switch_actions(request.get("AlarmNames") or [], enabled=enabled, now=self.clock.now())
