"""A batch as OTLP requests in JSON, which need no package to write.

One gauge point for each series and minute, also for counts (``..._per_minute``): batches are sent newest first and
sometimes twice, and a gauge at a given time is the same whenever and however often it comes. Sums would not be, and
how the endpoint takes delta sums is not documented [UNVERIFIED].

OTLP 1.x over HTTP, JSON encoding: field names in lowerCamelCase, 64-bit integers as strings
(OpenTelemetry protocol specification, "JSON Protobuf Encoding").
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agents.minute.batch import Batch
from agents.sinks.series import node
from agents.sinks.series.family import Family
from agents.sinks.series.levels import Level, pushed, pushed_name
from fleet.metrics import PERIOD_SECONDS
from fleet.version import VERSION

# CloudWatch's limits for one request: 1,000 data points and 1 MB before compression. AWS, "OTLP Endpoints", the table
# of the metrics endpoint.
POINTS_IN_A_REQUEST: Final = 1000
BYTES_IN_A_REQUEST: Final = 1_000_000
_SCOPE: Final = {"name": "neuron-fleet-agent", "version": VERSION}
# The endings of names and their units in UCUM, as OpenTelemetry wants them.
_UNITS: Final[Mapping[str, str]] = {
    "_ratio": "1",
    "_bytes": "By",
    "_seconds": "s",
    "_flops_per_second": "{FLOP}/s",
    "_per_minute": "{count}/min",
}

_Metric = dict[str, Any]


def requests(
    batch: Batch, points: int = POINTS_IN_A_REQUEST, size: int = BYTES_IN_A_REQUEST, level: Level = Level.CORES
) -> Iterator[bytes]:
    """The bodies of as many requests as the limits make necessary; every label is on the data point."""
    metrics = [_metric(family, batch) for family in pushed(node.families(batch), level)]
    yield from _bodies(list(_cut(metrics, points)), size)


def _metric(family: Family, batch: Batch) -> _Metric:
    name = pushed_name(family)
    common = {name: str(batch.log_event.get(name) or "") for name in ("environment", "fleet", "node")}
    time = str((batch.minute + PERIOD_SECONDS) * 1_000_000_000)
    data = [
        {
            "attributes": _attributes({**common, **dict(zip(family.labels, each.labels, strict=True))}),
            "timeUnixNano": time,
            "asDouble": each.value,
        }
        for each in family.points
    ]
    return {"name": name, "description": family.help, "unit": _unit(name), "gauge": {"dataPoints": data}}


def _attributes(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in labels.items() if value]


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")


def _cut(metrics: Iterable[_Metric], most: int) -> Iterator[list[_Metric]]:
    """``metrics`` in groups of at most ``most`` points; a metric may be cut in two."""
    group: list[_Metric] = []
    room = most
    for metric in metrics:
        data = metric["gauge"]["dataPoints"]
        while data:
            group.append({**metric, "gauge": {"dataPoints": data[:room]}})
            data, room = data[room:], room - len(data[:room])
            if room == 0:
                yield group
                group, room = [], most
    if group:
        yield group


def _bodies(groups: Iterable[list[_Metric]], size: int) -> Iterator[bytes]:
    for group in groups:
        body = _body(group)
        count = sum(len(metric["gauge"]["dataPoints"]) for metric in group)
        if len(body) <= size or count == 1:
            yield body
        else:
            yield from _bodies(_cut(group, (count + 1) // 2), size)


def _body(metrics: list[_Metric]) -> bytes:
    scoped = {"scope": _SCOPE, "metrics": metrics}
    request = {"resourceMetrics": [{"resource": {}, "scopeMetrics": [scoped]}]}
    return json.dumps(request, separators=(",", ":"), allow_nan=False).encode()
