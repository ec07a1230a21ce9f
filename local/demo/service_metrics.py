"""The metrics that a load balancer would write for a simulated endpoint.

A real Application Load Balancer publishes them itself. Their dimensions are read from the deployed alarms, so that they
are the deployed load balancer's own.

What the functions that a clock wakes would write in the virtual hours of a scenario.

They are deployed, and they read the machine's clock, which has no part in virtual time. Every node of a scenario has
its capacity from the first minute to the last: nothing is missing, and nothing that is reserved lies idle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import boto3

from environments.fleets import Fleet
from environments.markets import CapacityBlock, Reservation
from environments.model import Environment
from fleet import metrics, naming, operations_metrics
from fleet.operations_metrics import (
    CAPACITY_BLOCK_PROBLEMS,
    CAPACITY_WATCH_PROBLEMS,
    DEPLOYMENTS_IN_PROGRESS,
    LEDGER_PROBLEMS,
)

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


Datums = list[dict[str, object]]


def datums(environment: Environment, minute: float) -> dict[str, Datums]:
    """By namespace, what is written of the minute that starts at ``minute``, a unix second."""
    looked = [
        CAPACITY_WATCH_PROBLEMS,
        LEDGER_PROBLEMS,
        DEPLOYMENTS_IN_PROGRESS,
        *([CAPACITY_BLOCK_PROBLEMS] if environment.block_fleets else []),
    ]
    here = {operations_metrics.ENVIRONMENT: environment.name}
    return {
        operations_metrics.NAMESPACE: [_datum(metric.name, 0, "Count", here, minute) for metric in looked],
        metrics.NAMESPACE: [
            _datum(spec.name, value, spec.unit.value, here | {metrics.FLEET: fleet.name}, minute)
            for fleet in environment.node_fleets
            for spec, value in _capacity(fleet, minute)
        ],
    }


def _capacity(fleet: Fleet, minute: float) -> Iterator[tuple[metrics.MetricSpec, float]]:
    yield metrics.MISSING_NODES, 0
    yield metrics.PRESENT_NODES, fleet.nodes
    # An agent whose monitor is dead is heard all the same.
    yield metrics.SILENT_NODES, 0
    # A scenario's prices are of its own time.
    yield metrics.STALE_PRICE, 0
    if isinstance(fleet.market, Reservation | CapacityBlock):
        yield metrics.RESERVED_INSTANCES, fleet.market.instances or fleet.nodes
        yield metrics.UNUSED_RESERVED_INSTANCES, 0
        yield metrics.UNUSED_RESERVATION_USD_PER_HOUR, 0
    if isinstance(fleet.market, CapacityBlock):
        left = fleet.market.ends_at - datetime.fromtimestamp(minute, UTC)
        yield metrics.CAPACITY_BLOCK_MINUTES_LEFT, max(0.0, left.total_seconds() // 60)


def _datum(name: str, value: float, unit: str, dimensions: dict[str, str], minute: float) -> dict[str, object]:
    return {"name": name, "timestamp": minute, "dimensions": dimensions, "unit": unit, "values": [float(value)]}
