"""Metrics out of log events: the embedded metric format, as CloudWatch Logs reads it.

Source: "Specification: Embedded metric format" in the CloudWatch User Guide.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum

Measured = tuple[SeriesKey, float, str, Datum]


def metrics_of_event(message: str, received: float) -> Iterator[Measured]:
    """The metrics of one log event; none when it is no EMF. A directive that is malformed is ignored, as on AWS."""
    if '"_aws"' not in message:
        return
    try:
        event = json.loads(message)
    except ValueError:
        return
    metadata = event.get("_aws") if isinstance(event, dict) else None
    if not isinstance(metadata, dict):
        return
    timestamp = metadata.get("Timestamp", received * 1000)
    for directive in _listed(metadata, "CloudWatchMetrics"):
        try:
            found = list(_of_directive(event, directive, float(timestamp) / 1000))
        except (AttributeError, TypeError, ValueError):
            continue
        yield from found


def _of_directive(event: Mapping[str, Any], directive: Mapping[str, Any], timestamp: float) -> Iterator[Measured]:
    for dimensions in directive.get("Dimensions") or [[]]:
        for metric in directive.get("Metrics") or []:
            measured = _measured(event, directive.get("Namespace", ""), dimensions, metric, timestamp)
            if measured is not None:
                yield measured


def _listed(of: Mapping[str, Any], name: str) -> list[Any]:
    found = of.get(name)
    return found if isinstance(found, list) else []


def _measured(
    event: Mapping[str, Any], namespace: str, dimensions: list[str], metric: Mapping[str, Any], timestamp: float
) -> Measured | None:
    value = event.get(metric.get("Name", ""))
    if value is None or any(name not in event for name in dimensions):
        return None
    datum = _datum(value)
    if datum is None:
        return None
    key = SeriesKey(namespace, metric["Name"], frozenset((name, str(event[name])) for name in dimensions))
    return key, timestamp, metric.get("Unit", "None"), datum


def _datum(value: object) -> Datum | None:
    """A number, a list of numbers, or an object with Values and Counts."""
    if isinstance(value, Mapping):
        values, counts = value.get("Values") or [], value.get("Counts")
        return Datum.of_values(values, counts) if values and len(counts or values) == len(values) else None
    given = value if isinstance(value, list) else [value]
    numbers = [float(each) for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
    return Datum.of_values(numbers) if numbers and len(numbers) == len(given) else None
