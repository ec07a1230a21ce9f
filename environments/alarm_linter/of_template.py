"""Alarms and dashboards of a CloudFormation template, for the linter."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from environments.alarm_linter.watched import Alarm, Composite, Dashboard, Series, Watched, Widget

# What moves nodes and tells nobody. Whatever else an alarm calls is taken for somebody who wants a runbook.
_MOVES_NODES: Final = frozenset({"AWS::AutoScaling::ScalingPolicy", "AWS::ApplicationAutoScaling::ScalingPolicy"})
_CHILD: Final = re.compile(r'(?:ALARM|OK|INSUFFICIENT_DATA)\(\s*"?([^")]+?)"?\s*\)')


def of_template(template: Mapping[str, Any]) -> Watched:
    """What a template deploys; resources of other types are none of the linter's."""
    by_type: dict[str, list[Mapping[str, Any]]] = {}
    types: dict[str, str] = {}
    for logical_id, resource in template.get("Resources", {}).items():
        types[logical_id] = resource["Type"]
        by_type.setdefault(resource["Type"], []).append(resource.get("Properties", {}))
    return Watched(
        alarms=tuple(_alarm(each, types) for each in by_type.get("AWS::CloudWatch::Alarm", ())),
        composites=tuple(_composite(each, types) for each in by_type.get("AWS::CloudWatch::CompositeAlarm", ())),
        dashboards=tuple(map(_dashboard, by_type.get("AWS::CloudWatch::Dashboard", ()))),
    )


def _notifies(properties: Mapping[str, Any], types: Mapping[str, str]) -> bool:
    """Whether the alarm's actions tell somebody, and do more than move nodes."""
    return any(not _moves_nodes(action, types) for action in properties.get("AlarmActions", []))


def _moves_nodes(action: object, types: Mapping[str, str]) -> bool:
    if isinstance(action, Mapping):
        return types.get(str(action.get("Ref"))) in _MOVES_NODES
    return str(action).split(":")[2:3] == ["autoscaling"]


def _alarm(properties: Mapping[str, Any], types: Mapping[str, str]) -> Alarm:
    queries: list[Mapping[str, Any]] = properties.get("Metrics", [])
    read = [query["MetricStat"]["Metric"] for query in queries if "MetricStat" in query] or [properties]
    periods = [properties.get("Period", 60), *(q["MetricStat"].get("Period", 60) for q in queries if "MetricStat" in q)]
    evaluated = int(properties.get("EvaluationPeriods", 1))
    return Alarm(
        name=_text(properties.get("AlarmName", "")),
        notifies=_notifies(properties, types),
        series=tuple(_series(metric) for metric in read),
        expressions=tuple(_text(query["Expression"]) for query in queries if "Expression" in query),
        datapoints=(int(properties.get("DatapointsToAlarm", evaluated)), evaluated),
        minutes=int(max(periods)) * evaluated // 60,
    )


def _series(metric: Mapping[str, Any]) -> Series:
    dimensions = {item["Name"]: _text(item["Value"]) for item in metric.get("Dimensions", [])}
    return Series(_text(metric.get("Namespace", "")), _text(metric.get("MetricName", "")), dimensions)


def _composite(properties: Mapping[str, Any], types: Mapping[str, str]) -> Composite:
    rule = _text(properties["AlarmRule"])
    suppressor = properties.get("ActionsSuppressor")
    return Composite(
        name=_text(properties.get("AlarmName", "")),
        notifies=_notifies(properties, types),
        rule=rule,
        children=tuple(_CHILD.findall(rule)),
        suppressor=None if suppressor is None else _text(suppressor),
    )


def _dashboard(properties: Mapping[str, Any]) -> Dashboard:
    body = json.loads(_text(properties["DashboardBody"]))
    widgets = (Widget(_title(each), tuple(_drawn(each["properties"]))) for each in body["widgets"])
    return Dashboard(_text(properties.get("DashboardName", "")), tuple(widgets))


def _title(widget: Mapping[str, Any]) -> str:
    return str(widget["properties"].get("title") or widget["type"])


def _drawn(properties: Mapping[str, Any]) -> Iterator[Series]:
    # A row is namespace, name, then dimensions by twos, then options; "." repeats what stands above it.
    above: list[Any] = []
    for row in properties.get("metrics", []):
        texts = [item for item in row if isinstance(item, str)]
        if len(texts) < 2:
            continue
        if texts[0] == "...":
            texts = [*above[: -len(texts) + 1], *texts[1:]]
        full = [above[place] if item == "." else item for place, item in enumerate(texts)]
        above = full
        yield Series(full[0], full[1], dict(_pairs(full[2:])))


def _pairs(items: list[str]) -> Iterable[tuple[str, str]]:
    return zip(items[::2], items[1::2], strict=True)


def _text(value: object) -> str:
    """A string of a template; what CloudFormation fills in stands there as its reference, without quotes."""
    if not isinstance(value, Mapping):
        return str(value)
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return str(separator).join(_text(part) for part in parts)
    function, argument = next(iter(value.items()))
    return f"<{function}:{json.dumps(argument)}>".replace('"', "")
