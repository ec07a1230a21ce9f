"""An alarm's settings as the API gives them, as the definition that is evaluated."""

from collections.abc import Mapping
from typing import Any

from local.alarm_evaluation import CompositeAlarm, MetricAlarm, Suppression, TreatMissing, WarmUp
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
