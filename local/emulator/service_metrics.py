"""Metrics that AWS's own services write: their namespaces are closed to PutMetricData, as in a real account."""

from collections.abc import Mapping, Sequence
from typing import Any

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.emulator.cloudwatch.metric_store import MetricStore


def store(metrics: MetricStore, namespace: str, datums: Sequence[Mapping[str, Any]]) -> None:
    """Store ``{"name", "timestamp", "unit", "dimensions": {}, "values": [], "counts": []}`` objects.

    Raises:
        ValueError: A field is missing or has another shape.
    """
    try:
        for datum in datums:
            key = SeriesKey(namespace, datum["name"], frozenset(datum["dimensions"].items()))
            values = Datum.of_values(datum["values"], datum.get("counts"))
            metrics.put(key, float(datum["timestamp"]), datum["unit"], values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"metrics: {error!r}") from error
