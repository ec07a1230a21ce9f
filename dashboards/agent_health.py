"""For whoever looks after agents and platform: do they report, do they keep up, what do they cost the node."""

from collections.abc import Sequence

from dashboards import platform_health
from dashboards.widgets import Row, Shape, graph, row, series
from fleet import metrics
from fleet.metrics import MetricSpec


def rows(environment: str, fleets: Sequence[str]) -> list[Row]:
    """The dashboard from top to bottom, every graph with one line per fleet."""

    def per_fleet(title: str, spec: MetricSpec, statistic: str) -> Shape:
        return _per_fleet(title, spec, statistic, environment, fleets)

    return [
        row(
            per_fleet("Nodes that report", metrics.AGENT_HEARTBEAT, "Sum"),
            per_fleet("Blind nodes", metrics.NODES_BLIND, "Sum"),
            per_fleet("Nodes whose agent is silent", metrics.SILENT_NODES, "Minimum"),
            per_fleet("Oldest report", metrics.REPORT_AGE_SECONDS, "Maximum"),
        ),
        row(
            per_fleet("Spool, largest node", metrics.SPOOL_BYTES, "Maximum"),
            per_fleet("Samples dropped a minute", metrics.DROPPED_SAMPLES, "Sum"),
            per_fleet("Publish retries a minute", metrics.PUBLISH_RETRIES, "Sum"),
        ),
        row(
            per_fleet("Agent CPU, busiest node, of one core", metrics.AGENT_CPU_PERCENT, "Maximum"),
            per_fleet("Agent memory, largest node", metrics.AGENT_RSS_BYTES, "Maximum"),
        ),
        *platform_health.rows(environment),
    ]


def _per_fleet(title: str, spec: MetricSpec, statistic: str, environment: str, fleets: Sequence[str]) -> Shape:
    return graph(title, spec.unit, [series(spec, statistic, environment, fleet) for fleet in fleets])
