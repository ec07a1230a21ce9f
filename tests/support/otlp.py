"""OTLP requests, decoded by OpenTelemetry's own definition of the protocol."""

from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest


def parsed(body: bytes) -> ExportMetricsServiceRequest:
    """``body`` as a request; an unknown field or a wrong type is an error."""
    request = ExportMetricsServiceRequest()
    json_format.Parse(body, request)
    return request


def decoded(*bodies: bytes) -> dict[str, list[Any]]:
    """The data points of each metric, all of them gauges."""
    points: dict[str, list[Any]] = {}
    for body in bodies:
        request = parsed(body)
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    assert metric.WhichOneof("data") == "gauge"
                    points.setdefault(metric.name, []).extend(metric.gauge.data_points)
    return points


def labels(point: Any) -> dict[str, str]:
    """The attributes of a data point."""
    return {attribute.key: attribute.value.string_value for attribute in point.attributes}


def count(body: bytes) -> int:
    """How many data points a request has."""
    return sum(len(points) for points in decoded(body).values())


def billed_bytes(*bodies: bytes) -> int:
    """Bytes as CloudWatch counts them: of each data point its name, labels, time and value.

    Source: CloudWatch user guide, "OTel metrics pricing and storage"; time and value are taken for 8 bytes each, as
    they are in the protocol.
    """
    return sum(
        len(name) + sum(len(key) + len(value) for key, value in labels(point).items()) + 16
        for name, points in decoded(*bodies).items()
        for point in points
    )
