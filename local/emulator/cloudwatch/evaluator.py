"""One evaluation of every alarm of a region at one minute: metric alarms first, then the composites above them."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fleet.alarm_evaluation import State, Verdict
from fleet.alarm_evaluation.metric_alarms import judge, window
from local.emulator.cloudwatch.alarms import Alarm, AlarmStore, Transition
from local.emulator.cloudwatch.definitions import metric_alarm
from local.emulator.cloudwatch.metric_store import MetricStore

Act = Callable[[Alarm, Transition], None]


def evaluate_alarms(alarms: AlarmStore, metrics: MetricStore, now: float, act: Act) -> list[Transition]:
    """Evaluate everything at ``now``; ``act`` gets each transition once all states of the minute are known."""
    changes: list[tuple[Alarm, Transition]] = []
    for alarm in alarms.metric_alarms():
        verdict = _verdict(alarm, metrics, now)
        if verdict.state is not alarm.state:
            changes.append((alarm, alarms.transition(alarm, verdict.state, verdict.reason, now)))
    changes += settle_composites(alarms, now)
    for alarm, change in changes:
        act(alarm, change)
    return [change for _, change in changes]


def settle_composites(alarms: AlarmStore, now: float) -> list[tuple[Alarm, Transition]]:
    """Bring every composite alarm to what its rule says; children are older, so one pass in order settles them."""
    changes: list[tuple[Alarm, Transition]] = []
    for alarm in alarms.composite_alarms():
        if alarm.rule is None:
            continue
        state = State.ALARM if alarm.rule.holds(lambda name: _state_of(alarms, name)) else State.OK
        if state is not alarm.state:
            children = _triggering_children(alarms, alarm)
            data = json.dumps({"triggeringAlarms": children})
            changes.append((alarm, alarms.transition(alarm, state, _composite_reason(children), now, data)))
    return changes


def _state_of(alarms: AlarmStore, name: str) -> State | None:
    alarm = alarms.get(name)
    return alarm.state if alarm else None


def _triggering_children(alarms: AlarmStore, alarm: Alarm) -> list[dict[str, Any]]:
    """The alarms of the rule that changed since the composite last did, the latest first."""
    names = alarm.rule.alarms if alarm.rule else ()
    changed = [child for child in map(alarms.get, names) if child is not None and child.order > alarm.order]
    return [
        {"arn": child.arn, "state": {"value": child.state.value, "timestamp": timestamp(child.updated_at)}}
        for child in sorted(changed, key=lambda child: child.order, reverse=True)
    ]


def _composite_reason(children: Sequence[Mapping[str, Any]]) -> str:
    if not children:
        return "The alarm rule was evaluated and no alarm in it has changed"
    first = children[0]
    at = datetime.strptime(first["state"]["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    return f"{first['arn']} transitioned to {first['state']['value']} at {at:%A %d %B, %Y %H:%M:%S} UTC"


def timestamp(seconds: float) -> str:
    """Unix seconds as alarm notifications write a time: ``2026-11-21T03:00:00.000+0000``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"


def _verdict(alarm: Alarm, metrics: MetricStore, now: float) -> Verdict:
    definition = metric_alarm(alarm.settings)
    return judge(definition, metrics, window(definition, metrics, now), alarm.state)
