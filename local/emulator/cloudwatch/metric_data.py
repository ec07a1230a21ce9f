"""Answers about metrics: GetMetricData, GetMetricStatistics, ListMetrics, and the series of an alarm's queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.metric_statistics import is_statistic
from local.emulator.cloudwatch.errors import invalid, missing, validation
from local.emulator.cloudwatch.math_functions import Grid, Labelled, Series, Value
from local.emulator.cloudwatch.metric_math import (
    Array,
    Call,
    MathError,
    Negation,
    Node,
    Operation,
    Reference,
    parse,
)
from local.emulator.cloudwatch.metric_store import MetricStore, SeriesKey
from local.emulator.cloudwatch.search import search

Query = Mapping[str, Any]


def evaluate_queries(store: MetricStore, queries: Sequence[Query], start: float, end: float) -> dict[str, Value]:
    """Each query's value by Id: metrics first, then expressions in the order of what they refer to.

    Raises ``ApiError`` for an expression that cannot be parsed, or that refers to itself or to nothing.
    """
    raw = tuple(query["Id"] for query in queries if query.get("MetricStat"))
    values: dict[str, Value] = {
        query["Id"]: _metric(store, query["MetricStat"], start, end) for query in queries if query["Id"] in raw
    }
    period = common_period(queries)
    times = tuple(range(int(start // period * period), int(end), period))
    grid = Grid(times, period, values, raw, lambda text, name: search(store, (text, name), start, end, period))
    waiting = [query for query in queries if query.get("Expression")]
    while waiting:
        ready = [query for query in waiting if _references(query) <= values.keys()]
        if not ready:
            raise validation(f"Expression of {waiting[0]['Id']!r} refers to a query that does not exist, or to itself")
        for query in ready:
            values[query["Id"]] = _expression(query, grid)
            waiting.remove(query)
    return values


def _metric(store: MetricStore, stat: Mapping[str, Any], start: float, end: float) -> Series:
    metric, name, period = stat["Metric"], stat.get("Stat", "Average"), int(stat.get("Period", 60))
    check_statistic(name)
    check_period(period)
    key = SeriesKey.of(metric.get("Namespace", ""), metric.get("MetricName", ""), metric.get("Dimensions") or [])
    return store.values(key, name, start, end, period, stat.get("Unit"))


def _expression(query: Query, grid: Grid) -> Value:
    try:
        return grid.evaluate(parse(query["Expression"]))
    except MathError as error:
        raise validation(f"Error in expression {query['Id']!r}: {error}") from error


def _references(query: Query) -> set[str]:
    names: set[str] = set()
    try:
        _collect(parse(query["Expression"]), names)
    except MathError as error:
        raise validation(f"Error in expression {query['Id']!r}: {error}") from error
    return names


def _collect(node: Node, names: set[str]) -> None:
    match node:
        case Reference(name):
            names |= {name} - {"REPEAT", "LINEAR"}
        case Negation(operand):
            _collect(operand, names)
        case Operation(_, left, right):
            _collect(left, names)
            _collect(right, names)
        case Call(_, children) | Array(children):
            for child in children:
                _collect(child, names)


def common_period(queries: Sequence[Query]) -> int:
    """The period that expressions are evaluated at, in seconds: the longest that any of the queries has."""
    periods = [int(query["MetricStat"].get("Period", 60)) for query in queries if query.get("MetricStat")]
    return max(periods + [int(query["Period"]) for query in queries if query.get("Period")], default=60)


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
    values = evaluate_queries(store, queries, start, end)
    results: list[dict[str, Any]] = []
    for query in queries:
        if query.get("ReturnData", True):
            results.extend(_results(query, values[query["Id"]], ascending, end))
    return {"MetricDataResults": results, "Messages": []}


def _results(query: Query, value: Value, ascending: bool, end: float) -> list[dict[str, Any]]:
    label = query.get("Label") or _label(query)
    labelled: list[Labelled]
    if isinstance(value, list):
        labelled = [(f"{query.get('Label', '')} {own}".strip() or label, series) for own, series in value]
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


def _label(query: Query) -> str:
    if query.get("MetricStat"):
        return str(query["MetricStat"]["Metric"].get("MetricName", query["Id"]))
    return str(query["Id"])


def get_metric_statistics(store: MetricStore, request: Mapping[str, Any]) -> dict[str, Any]:
    """GetMetricStatistics: one datapoint per period that has data, unordered in the API and by time here."""
    period = int(request["Period"])
    check_period(period)
    key = SeriesKey.of(request["Namespace"], request["MetricName"], request.get("Dimensions") or [])
    start, end = float(request["StartTime"]), float(request["EndTime"])
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
