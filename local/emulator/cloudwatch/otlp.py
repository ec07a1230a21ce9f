"""CloudWatch's OTLP endpoint for metrics: a request's data points, as samples for PromQL, and what it refuses.

Source: Amazon CloudWatch User Guide, "OTLP Endpoints": OTLP 1.x over HTTP, gzip or none, 1,000 data points, 1 MB and
150 labels, at most 14 days old. Served are gauges in JSON, which is what agents send; other kinds are refused. That of
resources and scopes becomes labels too, by names that are not documented, so rules may rely on those of points alone.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from local.alarm_evaluation.promql import Labels, labels_of
from local.alarm_evaluation.promql.nodes import NAME
from local.emulator.cloudwatch.errors import ApiError, validation

PATH: Final = "/v1/metrics"
POINTS: Final = 1000
BYTES: Final = 1_000_000
LABELS: Final = 150
OLDEST_SECONDS: Final = 14 * 86_400
# As for PutMetricData; the page of the endpoint has no figure for the future.
NEWEST_SECONDS: Final = 2 * 3600


@dataclass(frozen=True, slots=True)
class Sample:
    """One data point: ``labels`` have the metric's name among them, ``at`` is unix seconds."""

    metric: str
    labels: Labels
    at: float
    value: float


class _Text(msgspec.Struct, rename="camel"):
    string_value: str


class _Attribute(msgspec.Struct):
    key: str
    value: _Text


class _Point(msgspec.Struct, rename="camel"):
    time_unix_nano: int
    as_double: float
    attributes: list[_Attribute] = []


class _Gauge(msgspec.Struct, rename="camel"):
    data_points: list[_Point]


class _Metric(msgspec.Struct):
    name: str
    gauge: _Gauge


class _Scope(msgspec.Struct):
    metrics: list[_Metric]


class _Resource(msgspec.Struct, rename="camel"):
    scope_metrics: list[_Scope]


class _Request(msgspec.Struct, rename="camel"):
    resource_metrics: list[_Resource]


# Integers of 64 bits are texts in the protocol's JSON.
_DECODER: Final = msgspec.json.Decoder(_Request, strict=False)


def samples(body: bytes, headers: Mapping[str, str], now: float) -> list[Sample]:
    """Every data point of a request that came at ``now``; raises ``ApiError`` for what CloudWatch would refuse."""
    request = _decoded(body, headers)
    found = [each for resource in request.resource_metrics for scope in resource.scope_metrics for each in _of(scope)]
    if len(found) > POINTS:
        raise validation(f"the request has {len(found)} data points; the limit is {POINTS}")
    for each in found:
        if len(each.labels) - 1 > LABELS:
            raise validation(f"{each.metric} has {len(each.labels) - 1} labels; the limit is {LABELS}")
        if not now - OLDEST_SECONDS <= each.at <= now + NEWEST_SECONDS:
            raise validation(f"{each.metric} is of {each.at:.0f}, and may be at most 14 days old and 2 hours ahead")
    return found


def _decoded(body: bytes, headers: Mapping[str, str]) -> _Request:
    if "json" not in headers.get("content-type", ""):
        raise ApiError("UnsupportedMediaType", "this endpoint takes application/json here", 415)
    try:
        plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        if len(plain) > BYTES:
            raise ApiError("RequestEntityTooLarge", f"the request has {len(plain)} bytes; the limit is {BYTES}", 413)
        return _DECODER.decode(plain)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError) as error:
        raise validation(f"the request is not OTLP in JSON with gauges: {error}") from error


def _of(scope: _Scope) -> Iterator[Sample]:
    for metric in scope.metrics:
        for point in metric.gauge.data_points:
            labels = {each.key: each.value.string_value for each in point.attributes}
            yield Sample(
                metric.name,
                labels_of({**labels, NAME: metric.name}),
                point.time_unix_nano / 1_000_000_000,
                point.as_double,
            )
