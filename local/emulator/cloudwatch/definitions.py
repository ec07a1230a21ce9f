"""An alarm's settings as the API gives them and as they are evaluated, and how CloudWatch words what came of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from local.alarm_evaluation import CompositeAlarm, MetricAlarm, Suppression, Transition, TreatMissing, WarmUp
from local.alarm_evaluation.composite_rules import Rule
from local.emulator.cloudwatch.metric_data import parsed_queries


def metric_alarm(settings: Mapping[str, Any]) -> MetricAlarm:
    """From the parameters of PutMetricAlarm, which have been checked."""
    periods = int(settings["EvaluationPeriods"])
    return MetricAlarm(
        name=settings["AlarmName"],
        queries=parsed_queries(settings.get("Metrics") or [_as_query(settings)]),
        comparison=settings["ComparisonOperator"],
        threshold=float(settings["Threshold"]),
        evaluation_periods=periods,
        datapoints_to_alarm=int(settings.get("DatapointsToAlarm") or periods),
        treat_missing=TreatMissing(settings.get("TreatMissingData", "missing")),
        warm_up=_warm_up(settings.get("WarmUpConfiguration")),
        evaluate_low_samples=settings.get("EvaluateLowSampleCountPercentile") != "ignore",
        actions_enabled=settings.get("ActionsEnabled", True),
    )


def composite_alarm(settings: Mapping[str, Any], rule: Rule) -> CompositeAlarm:
    """From the parameters of PutCompositeAlarm and its parsed rule, which have been checked."""
    return CompositeAlarm(
        name=settings["AlarmName"],
        rule=rule,
        suppression=_suppression(settings),
        actions_enabled=settings.get("ActionsEnabled", True),
    )


def _suppression(settings: Mapping[str, Any]) -> Suppression | None:
    name = settings.get("ActionsSuppressor")
    if not name:
        return None
    wait, extension = (int(settings[f"ActionsSuppressor{period}Period"]) for period in ("Wait", "Extension"))
    return Suppression(alarm_name(name), wait, extension)


def alarm_name(name_or_arn: str) -> str:
    """The alarm's name, which its ARN ends with."""
    return name_or_arn.partition(":alarm:")[2] or name_or_arn


def _warm_up(settings: Mapping[str, Any] | None) -> WarmUp | None:
    if not settings:
        return None
    minutes = int(settings["WarmUpPeriodDurationInMinutes"])
    return WarmUp(minutes, whole=bool(settings.get("OnlyStartEvaluatingAfterWarmUpPeriodEnds")))


def _as_query(settings: Mapping[str, Any]) -> dict[str, Any]:
    metric = {key: settings[key] for key in ("Namespace", "MetricName", "Dimensions") if settings.get(key)}
    stat = {"Metric": metric, "Period": settings["Period"], "Unit": settings.get("Unit")}
    return {"Id": "m1", "MetricStat": {**stat, "Stat": settings.get("Statistic") or settings["ExtendedStatistic"]}}


def triggering_alarms(change: Transition, arn_of: Callable[[str], str]) -> list[dict[str, Any]]:
    """The alarms of the rule that changed since the composite last did, the latest first."""
    return [
        {"arn": arn_of(each.alarm), "state": {"value": each.state.value, "timestamp": timestamp(each.at)}}
        for each in change.triggers
    ]


def composite_reason(triggers: Sequence[Mapping[str, Any]]) -> str:
    """Names the latest of ``triggering_alarms``."""
    if not triggers:
        return "The alarm rule was evaluated and no alarm in it has changed"
    first = triggers[0]
    at = datetime.strptime(first["state"]["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    return f"{first['arn']} transitioned to {first['state']['value']} at {at:%A %d %B, %Y %H:%M:%S} UTC"


def timestamp(seconds: float) -> str:
    """Unix seconds as alarm notifications write a time: ``2026-11-21T03:00:00.000+0000``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"
