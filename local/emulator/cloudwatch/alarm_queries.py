"""Answers about alarms: DescribeAlarms, DescribeAlarmHistory and DescribeAlarmsForMetric."""

from collections.abc import Mapping
from typing import Any

from local.emulator.cloudwatch.alarms import Alarm, AlarmStore


def describe_alarms(alarms: AlarmStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """Metric alarms unless AlarmTypes asks for more; pages of MaxRecords (50), by position."""
    kinds = request.get("AlarmTypes") or ["MetricAlarm"]
    matching = [
        *((alarm, "MetricAlarm") for alarm in alarms.metric_alarms() if "MetricAlarm" in kinds),
        *((alarm, "CompositeAlarm") for alarm in alarms.composite_alarms() if "CompositeAlarm" in kinds),
    ]
    found = [(alarm, kind) for alarm, kind in matching if _matches(alarm, request)]
    first, size = int(request.get("NextToken") or 0), int(request.get("MaxRecords") or 50)
    page = found[first : first + size]
    answer: dict[str, Any] = {
        "MetricAlarms": [alarm.described() for alarm, kind in page if kind == "MetricAlarm"],
        "CompositeAlarms": [
            {**alarm.described(), **_suppressed(alarms, alarm)} for alarm, kind in page if kind == "CompositeAlarm"
        ],
    }
    if first + size < len(found):
        answer["NextToken"] = str(first + size)
    return answer


def _suppressed(alarms: AlarmStore, alarm: Alarm) -> dict[str, str]:
    status = alarms.evaluation.status(alarm.name)
    if status is None or status.held_by is None:
        return {}
    return {
        "ActionsSuppressedBy": status.held_by.value,
        "ActionsSuppressedReason": f"Actions suppressed by {status.held_by}",
    }


def _matches(alarm: Alarm, request: Mapping[str, Any]) -> bool:
    names = request.get("AlarmNames")
    return (
        (not names or alarm.name in names)
        and alarm.name.startswith(request.get("AlarmNamePrefix") or "")
        and request.get("StateValue", alarm.state.value) == alarm.state.value
    )


def describe_alarm_contributors(alarms: AlarmStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """The contributors in ALARM, in one page: an alarm has at most 100."""
    return {"AlarmContributors": alarms.promql.described(alarms.require(request["AlarmName"]).name)}


def describe_alarm_history(alarms: AlarmStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """The history, newest first unless ScanBy says otherwise, in one page."""
    found = [
        item
        for item in alarms.history
        if request.get("AlarmName", item["AlarmName"]) == item["AlarmName"]
        and request.get("HistoryItemType", item["HistoryItemType"]) == item["HistoryItemType"]
        and float(request.get("StartDate", 0)) <= item["Timestamp"] <= float(request.get("EndDate", "inf"))
        and item["AlarmType"] in (request.get("AlarmTypes") or ["MetricAlarm"])
    ]
    newest_first = request.get("ScanBy") != "TimestampAscending"
    return {"AlarmHistoryItems": found[::-1] if newest_first else found}


def describe_alarms_for_metric(alarms: AlarmStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """The metric alarms that watch exactly this metric."""

    def watched(settings: Mapping[str, Any]) -> bool:
        same = settings.get("MetricName") == request["MetricName"] and settings.get("Namespace") == request["Namespace"]
        return same and _set(settings.get("Dimensions")) == _set(request.get("Dimensions"))

    return {"MetricAlarms": [alarm.described() for alarm in alarms.metric_alarms() if watched(alarm.settings)]}


def _set(dimensions: list[Mapping[str, str]] | None) -> set[tuple[str, str]]:
    return {(each["Name"], each["Value"]) for each in dimensions or []}
