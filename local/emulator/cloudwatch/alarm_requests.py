"""What PutMetricAlarm and PutCompositeAlarm refuse, by the limits of the CloudWatch API reference."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from local.alarm_evaluation import COMPARISONS, DefinitionError, MetricAlarm, TreatMissing
from local.alarm_evaluation.composite_rules import Rule, RuleError, parse_rule
from local.alarm_evaluation.metric_math.queries import evaluate_queries
from local.alarm_evaluation.metric_math.syntax import MathError
from local.emulator.cloudwatch.definitions import alarm_name, metric_alarm
from local.emulator.cloudwatch.errors import invalid, missing, validation
from local.emulator.cloudwatch.metric_data import check_period, check_statistic, parsed_queries
from local.emulator.cloudwatch.metric_store import MetricStore

MAX_DESCRIPTION: Final = 1024
MAX_ACTIONS: Final = 5
MAX_RULE: Final = 10_240
MAX_QUERIES: Final = 20
DAY: Final = 86_400


def check_metric_alarm(request: Mapping[str, Any]) -> MetricAlarm:
    """The alarm to evaluate; raises ``ApiError`` for one that CloudWatch would refuse."""
    _check_common(request)
    for required in ("ComparisonOperator", "EvaluationPeriods", "Threshold"):
        if request.get(required) is None:
            raise missing(required)
    if request["ComparisonOperator"] not in COMPARISONS:
        raise invalid(f"ComparisonOperator {request['ComparisonOperator']!r} is not supported here")
    periods = int(request["EvaluationPeriods"])
    if request.get("TreatMissingData", "missing") not in set(TreatMissing):
        raise invalid(f"TreatMissingData {request['TreatMissingData']!r} is not one of {', '.join(TreatMissing)}")
    _check_served(request)
    if bool(request.get("Metrics")) == bool(request.get("MetricName")):
        raise validation("An alarm watches either MetricName or Metrics")
    if request.get("Metrics"):
        _check_queries(request["Metrics"])
    else:
        _check_single(request, periods)
    try:
        return metric_alarm(request)
    except DefinitionError as error:
        raise validation(str(error)) from error


def _check_served(request: Mapping[str, Any]) -> None:
    wall_clock = (request.get("EvaluationWindow") or {}).get("WallClockWindow") is not None
    for name in ("ThresholdMetricId", *(["EvaluationWindow"] if wall_clock else [])):
        if request.get(name) is not None:
            raise invalid(f"{name} is not supported here")


def _check_single(request: Mapping[str, Any], periods: int) -> None:
    for required in ("Namespace", "Period"):
        if not request.get(required):
            raise missing(required)
    if bool(request.get("Statistic")) == bool(request.get("ExtendedStatistic")):
        raise validation("Exactly one of Statistic and ExtendedStatistic must be given")
    check_statistic(request.get("Statistic") or request["ExtendedStatistic"])
    period = int(request["Period"])
    check_period(period)
    if period * periods > DAY and period < 3600:
        raise validation(f"Period {period} times EvaluationPeriods {periods} is more than one day")


def _check_queries(queries: list[Mapping[str, Any]]) -> None:
    if len(queries) > MAX_QUERIES:
        raise validation(f"Metrics holds {len(queries)} queries; an alarm can have {MAX_QUERIES}")
    returned = [query["Id"] for query in queries if query.get("ReturnData", True)]
    if len(returned) != 1:
        raise validation(f"Exactly one of Metrics must return data; {returned or 'none'} do")
    try:
        evaluate_queries(MetricStore(), parsed_queries(queries), 0, 60)
    except MathError as error:
        raise validation(f"Error in expression: {error}") from error


def check_composite_alarm(request: Mapping[str, Any], known: Collection[str]) -> Rule:
    """Refuse a composite alarm that CloudWatch would refuse; the parsed rule otherwise."""
    _check_common(request)
    text = request.get("AlarmRule")
    if not text:
        raise missing("AlarmRule")
    if len(text) > MAX_RULE:
        raise invalid(f"AlarmRule has {len(text)} characters; the limit is {MAX_RULE}")
    try:
        rule = parse_rule(text)
    except RuleError as error:
        raise validation(f"Error in AlarmRule [{error}]") from error
    absent = [name for name in rule.alarms if name not in known]
    if absent:
        raise validation(f"Could not save the composite alarm as alarms {absent} in the alarm rule do not exist")
    _check_suppressor(request, known)
    return rule


def _check_suppressor(request: Mapping[str, Any], known: Collection[str]) -> None:
    suppressor = request.get("ActionsSuppressor")
    if not suppressor:
        return
    for period in ("ActionsSuppressorWaitPeriod", "ActionsSuppressorExtensionPeriod"):
        if request.get(period) is None:
            raise missing(period)
        if int(request[period]) < 0:
            raise invalid(f"{period} {request[period]} is less than 0 seconds")
    if alarm_name(suppressor) not in known:
        raise validation(f"Could not save the composite alarm as its suppressor {suppressor} does not exist")


def _check_common(request: Mapping[str, Any]) -> None:
    name = request.get("AlarmName")
    if not name:
        raise missing("AlarmName")
    if len(name) > 255:
        raise invalid(f"AlarmName has {len(name)} characters; the limit is 255")
    if len(request.get("AlarmDescription") or "") > MAX_DESCRIPTION:
        raise invalid(f"AlarmDescription of {name!r} is longer than {MAX_DESCRIPTION} characters")
    for actions in ("AlarmActions", "OKActions", "InsufficientDataActions"):
        if len(request.get(actions) or []) > MAX_ACTIONS:
            raise invalid(f"{actions} of {name!r} holds more than {MAX_ACTIONS} actions")
