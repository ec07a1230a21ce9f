"""The metrics that a load balancer would write for a simulated endpoint.

A real Application Load Balancer publishes them itself. Their dimensions are read from the deployed alarms, so that they
are the deployed load balancer's own.
"""

from dataclasses import dataclass
from typing import Final

import boto3

from fleet import naming

NAMESPACE: Final = "AWS/ApplicationELB"
Dimensions = tuple[tuple[str, str], ...]
_LATENCIES_SECONDS: Final = (0.21, 0.24, 0.27, 0.33, 0.52)


@dataclass(frozen=True, slots=True)
class SimulatedEndpoint:
    """One fleet's endpoint: the dimension sets of its load balancer's metrics, and its traffic."""

    fleet: str
    dimension_sets: tuple[Dimensions, ...]
    requests_per_minute: int
    healthy_targets: int

    def datums(self, minute: float) -> list[dict[str, object]]:
        """What the load balancer says about the minute that starts at ``minute``."""
        share = self.requests_per_minute / len(_LATENCIES_SECONDS)
        counts = {
            "RequestCount": self.requests_per_minute,
            "HTTPCode_Target_2XX_Count": self.requests_per_minute,
            "HTTPCode_Target_5XX_Count": 0,
            "HTTPCode_ELB_5XX_Count": 0,
            "HealthyHostCount": self.healthy_targets,
            "UnHealthyHostCount": 0,
        }
        shapes: dict[str, dict[str, object]] = {
            name: {"unit": "Count", "values": [float(count)]} for name, count in counts.items()
        }
        latency = {"unit": "Seconds", "values": _LATENCIES_SECONDS, "counts": [share] * len(_LATENCIES_SECONDS)}
        shapes["TargetResponseTime"] = {**latency}
        return [
            {"name": name, "timestamp": minute, "dimensions": dict(dimensions), **shape}
            for name, shape in shapes.items()
            for dimensions in self.dimension_sets
        ]


def dimension_sets(environment: str, fleet: str) -> tuple[Dimensions, ...]:
    """Every dimension set of load-balancer metrics that the fleet's deployed alarms look at, and the balancer's own."""
    found: set[Dimensions] = set()
    prefix = naming.alarm_name(environment, fleet, "")
    pages = boto3.client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
    for alarm in (alarm for page in pages for alarm in page["MetricAlarms"]):
        queries = [query["MetricStat"]["Metric"] for query in alarm.get("Metrics", ()) if "MetricStat" in query]
        for metric in [*queries, alarm]:
            if metric.get("Namespace") == NAMESPACE:
                dimensions = tuple((one["Name"], one["Value"]) for one in metric["Dimensions"])
                found |= {dimensions, tuple(one for one in dimensions if one[0] == "LoadBalancer")}
    return tuple(sorted(found))
