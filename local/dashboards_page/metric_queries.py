"""A metric widget's ``metrics`` array as GetMetricData queries.

The array's notation, from CloudWatch's "dashboard body structure": ``"."`` repeats the element above, ``"..."`` all
elements above that are not repeated explicitly, and a trailing object holds the options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import (
        DimensionTypeDef,
        MetricAlarmTypeDef,
        MetricDataQueryTypeDef,
        MetricDataQueryUnionTypeDef,
        MetricStatTypeDef,
        MetricTypeDef,
    )

DEFAULT_PERIOD: Final = 300
DEFAULT_STATISTIC: Final = "Average"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: its query, and how the result is drawn."""

    query: "MetricDataQueryUnionTypeDef"
    color: str | None
    axis: str
    period: int


def lines(properties: Mapping[str, Any]) -> list[Line]:
    """The entries of a metric widget, in order; those that are not visible only feed expressions."""
    found: list[Line] = []
    above: list[str] = []
    for position, entry in enumerate(properties.get("metrics", ())):
        options = entry[-1] if entry and isinstance(entry[-1], Mapping) else {}
        period = int(options.get("period") or properties.get("period") or DEFAULT_PERIOD)
        query: MetricDataQueryTypeDef = {
            "Id": options.get("id") or f"entry{position}",
            "ReturnData": bool(options.get("visible", True)),
        }
        if "label" in options:
            query["Label"] = options["label"]
        if "expression" in options:
            query["Expression"], query["Period"] = options["expression"], period
        else:
            above = _repeat([part for part in entry if isinstance(part, str)], above)
            statistic = options.get("stat") or properties.get("stat") or DEFAULT_STATISTIC
            query["MetricStat"] = {"Metric": _metric(above), "Period": period, "Stat": statistic}
        found.append(Line(query, options.get("color"), options.get("yAxis", "left"), period))
    return found


def alarm_lines(alarm: "MetricAlarmTypeDef") -> list[Line]:
    """The metric that an alarm watches, as DescribeAlarms tells it."""
    if alarm.get("Metrics"):
        period = next((int(q["MetricStat"]["Period"]) for q in alarm["Metrics"] if "MetricStat" in q), DEFAULT_PERIOD)
        return [Line(query, None, "left", period) for query in alarm["Metrics"]]
    if "MetricName" not in alarm:
        return []
    metric: MetricTypeDef = {
        "Namespace": alarm["Namespace"],
        "MetricName": alarm["MetricName"],
        "Dimensions": alarm.get("Dimensions", []),
    }
    statistic = alarm.get("ExtendedStatistic") or alarm.get("Statistic") or DEFAULT_STATISTIC
    stat: MetricStatTypeDef = {"Metric": metric, "Period": alarm["Period"], "Stat": statistic}
    query: MetricDataQueryTypeDef = {"Id": "watched", "MetricStat": stat}
    return [Line(query, None, "left", int(alarm["Period"]))]


def _repeat(parts: Sequence[str], above: Sequence[str]) -> list[str]:
    if parts and parts[0] == "...":
        return [*above[: len(above) - len(parts) + 1], *parts[1:]]
    return [above[index] if part == "." and index < len(above) else part for index, part in enumerate(parts)]


def _metric(parts: Sequence[str]) -> "MetricTypeDef":
    namespace, name, *pairs = parts
    dimensions: list[DimensionTypeDef] = [
        {"Name": key, "Value": value} for key, value in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    return {"Namespace": namespace, "MetricName": name, "Dimensions": dimensions}
