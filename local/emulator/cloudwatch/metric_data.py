"""Answers about metrics: GetMetricData, GetMetricStatistics, ListMetrics, and the series of an alarm's queries."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.metric_math import queries as evaluation
from local.alarm_evaluation.metric_math.queries import MetricStat, Query
from local.alarm_evaluation.metric_math.syntax import MathError
from local.alarm_evaluation.metric_math.values import Labelled, Value
from local.alarm_evaluation.statistics import is_statistic
from local.emulator.cloudwatch.errors import invalid, missing, validation
from local.emulator.cloudwatch.metric_store import MetricStore, dynamic, search


def evaluate_queries(
    store: MetricStore, queries: Sequence[Mapping[str, Any]], start: int, end: int
) -> dict[str, Value]:
    """Each query's value by Id.

    Raises:
        ApiError: a statistic or period is refused, or an expression cannot be parsed or refers to nothing.
    """

    def searched(text: str, name: str, start: int, end: int, period: int) -> list[Labelled]:
        return search(store, (text, name), start, end, period)

    try:
        return evaluation.evaluate_queries(store, parsed_queries(queries), start, end, searched)
    except MathError as error:
        raise validation(f"Error in metric math: {error}") from error


def parsed_queries(queries: Sequence[Mapping[str, Any]]) -> tuple[Query, ...]:
    """The API's MetricDataQuery list; raises ``ApiError`` for a statistic or a period that is not served."""
    return tuple(
        Query(
            id=query["Id"],
            asks=_metric_stat(query["MetricStat"]) if query.get("MetricStat") else query["Expression"],
            returns=query.get("ReturnData", True),
            period=query.get("Period"),
        )
        for query in queries
    )


def _metric_stat(stat: Mapping[str, Any]) -> MetricStat:
    metric, name, period = stat["Metric"], stat.get("Stat", "Average"), int(stat.get("Period", 60))
    check_statistic(name)
    check_period(period)
    key = SeriesKey.of(metric.get("Namespace", ""), metric.get("MetricName", ""), metric.get("Dimensions") or [])
    return MetricStat(key, name, period, stat.get("Unit"))


def check_statistic(name: str) -> None:
    """Refuse a statistic that is not implemented, by name."""
    if not is_statistic(name):
        raise invalid(f"The value {name!r} for parameter Stat is not supported here")


def check_period(period: int) -> None:
    """Refuse periods that are no whole minutes: data is kept by the minute."""
    if period < 60 or period % 60:
        raise invalid(f"Period {period}: whole multiples of 60 seconds are served here")


def get_metric_data(store: MetricStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """GetMetricData: newest first unless ScanBy says otherwise; one result per returned series."""
    queries = request.get("MetricDataQueries") or []
    if not queries:
        raise missing("MetricDataQueries")
    start, end = float(request["StartTime"]), float(request["EndTime"])
    if start >= end:
        raise validation("The parameter StartTime must be less than the parameter EndTime.")
    ascending = request.get("ScanBy") == "TimestampAscending"
    period = evaluation.common_period(parsed_queries(queries))
    values = evaluate_queries(store, queries, int(start // period * period), math.ceil(end))
    results: list[dict[str, Any]] = []
    for query in queries:
        if query.get("ReturnData", True):
            results.extend(_results(query, values[query["Id"]], ascending, end))
    return {"MetricDataResults": results, "Messages": []}


def _results(query: Mapping[str, Any], value: Value, ascending: bool, end: float) -> list[dict[str, Any]]:
    label = query.get("Label") or _label(query)
    labelled: list[Labelled]
    if isinstance(value, list):
        labelled = [(dynamic(query.get("Label", ""), own) or label, series) for own, series in value]
    elif isinstance(value, dict):
        labelled = [(label, value)]
    else:
        labelled = [(label, {int(end) // 60 * 60 - 60: value})]
    return [
        {
            "Id": query["Id"],
            "Label": each,
            "Timestamps": sorted(series, reverse=not ascending),
            "Values": [series[time] for time in sorted(series, reverse=not ascending)],
            "StatusCode": "Complete",
        }
        for each, series in labelled
    ]


def _label(query: Mapping[str, Any]) -> str:
    if query.get("MetricStat"):
        return str(query["MetricStat"]["Metric"].get("MetricName", query["Id"]))
    return str(query["Id"])


def get_metric_statistics(store: MetricStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """GetMetricStatistics: one datapoint per period that has data, unordered in the API and by time here."""
    period = int(request["Period"])
    check_period(period)
    key = SeriesKey.of(request["Namespace"], request["MetricName"], request.get("Dimensions") or [])
    start, end = int(float(request["StartTime"]) // period * period), math.ceil(float(request["EndTime"]))
    points: dict[int, dict[str, Any]] = {}
    for name in [*request.get("Statistics", []), *request.get("ExtendedStatistics", [])]:
        check_statistic(name)
        for time, value in store.values(key, name, start, end, period, request.get("Unit")).items():
            point = points.setdefault(time, {"Timestamp": time, "Unit": request.get("Unit", "None")})
            if name.startswith("p"):
                point.setdefault("ExtendedStatistics", {})[name] = value
            else:
                point[name] = value
    return {"Label": request["MetricName"], "Datapoints": [points[time] for time in sorted(points)]}


def list_metrics(store: MetricStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """ListMetrics: every series that matches the namespace, the name and the dimensions given."""
    wanted = [(each["Name"], each.get("Value")) for each in request.get("Dimensions") or []]
    found = [
        {"Namespace": key.namespace, "MetricName": key.name, "Dimensions": key.dimension_list()}
        for key in store.all_series()
        if request.get("Namespace", key.namespace) == key.namespace
        and request.get("MetricName", key.name) == key.name
        and all(_has(key, name, value) for name, value in wanted)
    ]
    return {"Metrics": found}


def _has(key: SeriesKey, name: str, value: str | None) -> bool:
    return any(each == name and value in (None, stored) for each, stored in key.dimensions)
