"""The figures of a metric widget: series with gaps where nothing was measured, and the thresholds drawn across."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from local.dashboards_page.cloud import Cloud
from local.dashboards_page.metric_queries import Line, alarm_lines, lines

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import (
        GetMetricDataInputTypeDef,
        MetricAlarmTypeDef,
        MetricDataQueryUnionTypeDef,
        MetricDataResultTypeDef,
    )

BATCH: Final = 500
_DYNAMIC: Final = re.compile(r"\$\{(LAST|MAX|MIN|AVG|SUM)\}")
Point = tuple[int, float | None]


def metric_widget(cloud: Cloud, properties: Mapping[str, Any], start: datetime, end: datetime) -> dict[str, Any]:
    """What the page needs to draw the widget."""
    annotations = properties.get("annotations", {})
    entries, thresholds = lines(properties), _thresholds(annotations.get("horizontal", ()))
    for alarm in _alarms(cloud, annotations.get("alarms", ())):
        entries += alarm_lines(alarm)
        if "Threshold" in alarm:
            thresholds.append({"label": alarm["AlarmName"], "value": alarm["Threshold"], "axis": "left"})
    return {
        "view": properties.get("view", "timeSeries"),
        "stacked": bool(properties.get("stacked")),
        "sparkline": bool(properties.get("sparkline")),
        "axes": properties.get("yAxis", {}),
        "legend": properties.get("legend", {}).get("position", "bottom"),
        "thresholds": thresholds,
        "series": _series(cloud, entries, start, end),
    }


def alarm_name(arn_or_name: str) -> str:
    """The name in an alarm's ARN."""
    return arn_or_name.split(":alarm:", 1)[-1]


def with_gaps(points: Sequence[tuple[int, float]], period: int) -> list[Point]:
    """``points`` (milliseconds, value) with an empty point in each gap, so that a line does not bridge it."""
    found: list[Point] = []
    for moment, figure in points:
        if found and moment - found[-1][0] > period * 1500:
            found.append((found[-1][0] + period * 1000, None))
        found.append((moment, figure))
    return found


def _series(cloud: Cloud, entries: Sequence[Line], start: datetime, end: datetime) -> list[dict[str, Any]]:
    by_id = {line.query["Id"]: line for line in entries}
    found: list[dict[str, Any]] = []
    merged: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for offset in range(0, len(entries), BATCH):
        queries = [line.query for line in entries[offset : offset + BATCH]]
        for result in _pages(cloud, queries, start, end):
            key = (result["Id"], result.get("Label", result["Id"]))
            stamps = (int(moment.timestamp() * 1000) for moment in result["Timestamps"])
            merged.setdefault(key, []).extend(zip(stamps, result["Values"], strict=True))
    # The entries' order is the order of the legend, and an expression may answer with several series.
    order = {line.query["Id"]: position for position, line in enumerate(entries)}
    for (identity, label), points in sorted(merged.items(), key=lambda item: order.get(item[0][0], len(order))):
        line = by_id[identity]
        found.append(
            {
                "label": with_figures(label, [figure for _, figure in points]),
                "color": line.color,
                "axis": line.axis,
                "points": with_gaps(sorted(points), line.period),
            }
        )
    return found


def with_figures(label: str, figures: Sequence[float]) -> str:
    """A dynamic label's ``${LAST}`` and the like, for an endpoint that leaves them in place."""
    if "${" not in label:
        return label
    if not figures:
        return _DYNAMIC.sub("no data", label)
    known = {
        "LAST": figures[-1],
        "MAX": max(figures),
        "MIN": min(figures),
        "AVG": sum(figures) / len(figures),
        "SUM": sum(figures),
    }
    return _DYNAMIC.sub(lambda match: f"{known[match.group(1)]:,.2f}", label)


def _pages(
    cloud: Cloud, queries: "Sequence[MetricDataQueryUnionTypeDef]", start: datetime, end: datetime
) -> "list[MetricDataResultTypeDef]":
    found: list[MetricDataResultTypeDef] = []
    request: GetMetricDataInputTypeDef = {
        "MetricDataQueries": queries, "StartTime": start, "EndTime": end, "ScanBy": "TimestampAscending"
    }  # fmt: skip
    while True:
        answer = cloud.cloudwatch.get_metric_data(**request)
        found += answer["MetricDataResults"]
        if not answer.get("NextToken"):
            return found
        request["NextToken"] = answer["NextToken"]


def _alarms(cloud: Cloud, arns: Sequence[str]) -> "Sequence[MetricAlarmTypeDef]":
    if not arns:
        return []
    answer = cloud.cloudwatch.describe_alarms(
        AlarmNames=[alarm_name(arn) for arn in arns], AlarmTypes=["MetricAlarm", "CompositeAlarm"]
    )
    return answer.get("MetricAlarms", ())


def _thresholds(annotations: Sequence[Any]) -> list[dict[str, Any]]:
    """Horizontal lines; a pair is a band, drawn as its two edges."""
    flat = [edge for entry in annotations for edge in (entry if isinstance(entry, list) else [entry])]
    return [
        {
            "label": edge.get("label", ""),
            "value": edge["value"],
            "color": edge.get("color"),
            "axis": edge.get("yAxis", "left"),
        }
        for edge in flat
        if edge.get("visible", True)
    ]
