"""The metrics that a load balancer would write for a simulated endpoint.

A real Application Load Balancer publishes them itself. Their dimensions are read from the deployed alarms, so that they
are the deployed load balancer's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from fleet import naming
from local.endpoint import client

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

    def datums(self, minute: float) -> list[dict[str, Any]]:
        """What the load balancer says about the minute that starts at ``minute``."""
        requests = self.requests_per_minute
        share = requests / len(_LATENCIES_SECONDS)
        values: dict[str, dict[str, Any]] = {
            "RequestCount": {"Value": float(requests), "Unit": "Count"},
            "TargetResponseTime": {
                "Values": list(_LATENCIES_SECONDS),
                "Counts": [share] * len(_LATENCIES_SECONDS),
                "Unit": "Seconds",
            },
            "HTTPCode_Target_2XX_Count": {"Value": float(requests), "Unit": "Count"},
            "HTTPCode_Target_5XX_Count": {"Value": 0.0, "Unit": "Count"},
            "HTTPCode_ELB_5XX_Count": {"Value": 0.0, "Unit": "Count"},
            "HealthyHostCount": {"Value": float(self.healthy_targets), "Unit": "Count"},
            "UnHealthyHostCount": {"Value": 0.0, "Unit": "Count"},
        }
        at = datetime.fromtimestamp(minute, UTC)
        return [
            {
                "MetricName": name,
                "Timestamp": at,
                "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions],
                **values[name],
            }
            for name in values
            for dimensions in self.dimension_sets
        ]


def publish(endpoints: Iterable[SimulatedEndpoint], minute: float) -> None:
    """Write the metrics of one minute."""
    datums = [datum for endpoint in endpoints for datum in endpoint.datums(minute)]
    if datums:
        client("cloudwatch").put_metric_data(Namespace=NAMESPACE, MetricData=datums)


def dimension_sets(environment: str, fleet: str) -> tuple[Dimensions, ...]:
    """Every dimension set of load-balancer metrics that the fleet's deployed alarms look at, and the balancer's own."""
    found: set[Dimensions] = set()
    prefix = naming.alarm_name(environment, fleet, "")
    pages = client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
    for alarm in (alarm for page in pages for alarm in page["MetricAlarms"]):
        queries = [query["MetricStat"]["Metric"] for query in alarm.get("Metrics", ()) if "MetricStat" in query]
        for metric in [*queries, alarm]:
            if metric.get("Namespace") == NAMESPACE:
                dimensions = tuple((one["Name"], one["Value"]) for one in metric["Dimensions"])
                found |= {dimensions, tuple(one for one in dimensions if one[0] == "LoadBalancer")}
    return tuple(sorted(found))
