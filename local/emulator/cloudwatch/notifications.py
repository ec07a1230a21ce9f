"""The message that an alarm sends to an SNS topic, member for member as CloudWatch writes it.

Source: the notification examples in "Using Amazon CloudWatch alarms" and in the AWS Health and Lambda guides; of a
contributor, that of a log alarm with several.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import botocore.session

from local.alarm_evaluation import Transition
from local.alarm_evaluation.promql import Labels
from local.emulator.cloudwatch.alarms import Alarm, AlarmStore
from local.emulator.cloudwatch.definitions import timestamp
from local.emulator.cloudwatch.promql_alarms import contributor_id, criteria

_ACTIONS = {"ALARM": "AlarmActions", "OK": "OKActions", "INSUFFICIENT_DATA": "InsufficientDataActions"}


def topics(alarm: Alarm, change: Transition) -> list[str]:
    """The topics to notify of this transition."""
    if not alarm.settings.get("ActionsEnabled", True):
        return []
    return [arn for arn in alarm.settings.get(_ACTIONS[change.state.value]) or [] if ":sns:" in arn]


def subject(change: Transition, region: str) -> str:
    """The subject line, cut at SNS's 100 characters."""
    return f'{change.state}: "{change.alarm}" in {region_name(region)}'[:100]


def message(alarms: AlarmStore, alarm: Alarm, change: Transition, contributor: Labels | None = None) -> dict[str, Any]:
    """The JSON body of the notification; ``contributor`` are the labels of the series that it is about."""
    settings = alarm.settings
    body: dict[str, Any] = {
        "AlarmName": alarm.name,
        "AlarmDescription": settings.get("AlarmDescription"),
        "AWSAccountId": alarms.account,
        "AlarmConfigurationUpdatedTimestamp": timestamp(alarm.configured_at),
        "NewStateValue": change.state.value,
        "NewStateReason": change.reason,
        "StateChangeTime": timestamp(change.at),
        "Region": region_name(alarms.region),
        "AlarmArn": alarm.arn,
        "OldStateValue": change.previous.value,
        **{
            actions: settings.get(actions) or [] for actions in ("OKActions", "AlarmActions", "InsufficientDataActions")
        },
    }
    if contributor is not None:
        body |= {"AlarmContributorId": contributor_id(contributor), "AlarmContributorAttributes": dict(contributor)}
    if criteria(settings) is not None:
        # What such an alarm has for a trigger is not documented.
        return body
    if alarm.rule is None:
        return {**body, "Trigger": _trigger(settings)}
    children = [
        {"Arn": child["arn"], "State": {"Value": child["state"]["value"], "Timestamp": child["state"]["timestamp"]}}
        for child in json.loads(alarm.reason_data).get("triggeringAlarms", [])
    ]
    return {**body, "AlarmRule": settings["AlarmRule"], "TriggeringChildren": children}


def _trigger(settings: Mapping[str, Any]) -> dict[str, Any]:
    rule = {
        "EvaluationPeriods": settings["EvaluationPeriods"],
        "DatapointsToAlarm": settings.get("DatapointsToAlarm") or settings["EvaluationPeriods"],
        "ComparisonOperator": settings["ComparisonOperator"],
        "Threshold": settings["Threshold"],
        "TreatMissingData": settings.get("TreatMissingData", "missing"),
        "EvaluateLowSampleCountPercentile": settings.get("EvaluateLowSampleCountPercentile", ""),
    }
    if settings.get("Metrics"):
        return {**rule, "Metrics": [_query(query) for query in settings["Metrics"]]}
    extended = settings.get("ExtendedStatistic")
    statistic = {"ExtendedStatistic": extended} if extended else {"Statistic": settings["Statistic"].upper()}
    return {
        "MetricName": settings["MetricName"],
        "Namespace": settings["Namespace"],
        "StatisticType": "ExtendedStatistic" if extended else "Statistic",
        **statistic,
        "Unit": settings.get("Unit"),
        "Dimensions": _dimensions(settings.get("Dimensions") or []),
        "Period": settings["Period"],
        **rule,
    }


def _query(query: Mapping[str, Any]) -> dict[str, Any]:
    shown = {**query, "ReturnData": query.get("ReturnData", True)}
    if "MetricStat" in query:
        stat = query["MetricStat"]
        metric = {**stat["Metric"], "Dimensions": _dimensions(stat["Metric"].get("Dimensions") or [])}
        shown["MetricStat"] = {**stat, "Metric": metric}
    return shown


def _dimensions(dimensions: list[Mapping[str, str]]) -> list[dict[str, str]]:
    """Notifications spell the members in lower case, unlike every other place."""
    return [{"value": each["Value"], "name": each["Name"]} for each in dimensions]


@cache
def region_name(region: str) -> str:
    """``US East (Ohio)`` for ``us-east-2``: notifications carry the name and not the code."""
    endpoints = botocore.session.get_session().get_component("data_loader").load_data("endpoints")
    regions = {code: each for partition in endpoints["partitions"] for code, each in partition["regions"].items()}
    return str(regions.get(region, {}).get("description", region))
