"""How full an endpoint is, what its answers cost, and how many nodes it has for them: beside what it scales with."""

from typing import Final

from aws_cdk import aws_cloudwatch as cw

from dashboards.by_job import search
from dashboards.widgets import MINUTE, Row, Shape, graph, row, series, target
from environments.fleets import InferenceFleet
from fleet import auto_scaling, metrics, operations_metrics
from fleet.load_balancer import EndpointNames
from fleet.metrics import MetricSpec, Unit
from fleet.serving.scaling import Targets

_MILLION_AN_HOUR: Final = 1_000_000 / 3600


def load_row(environment: str, fleet: InferenceFleet, names: EndpointNames) -> Row:
    """One row; targets are drawn where the endpoint scales with them."""
    targets = fleet.scaling.targets if fleet.scaling else Targets()
    return row(
        _by_node(
            "Requests in flight per core",
            metrics.REQUESTS_IN_FLIGHT_PER_CORE,
            environment,
            fleet.name,
            targets.requests_in_flight_per_core,
        ),
        _by_node("Queue time", metrics.QUEUE_SECONDS, environment, fleet.name, targets.queue_seconds),
        _price_of_tokens(environment, fleet.name),
        _nodes(environment, fleet, names),
    )


def _by_node(title: str, spec: MetricSpec, environment: str, fleet: str, aim: float | None) -> Shape:
    lines = [
        series(spec, statistic, environment, fleet, label=label)
        for statistic, label in (("Average", "mean of the nodes"), ("Maximum", "fullest node"))
    ]
    return graph(title, spec.unit, lines, marks=[target(aim)] if aim is not None else ())


def _price_of_tokens(environment: str, fleet: str) -> Shape:
    # A task says its tokens once a minute; Average is the same when a batch is sent twice.
    tokens = search(metrics.TOKENS_PER_SECOND, "Average", environment, fleet)
    price = cw.MathExpression(
        expression=f"{_MILLION_AN_HOUR:.6g} * cost / SUM({tokens})",
        using_metrics={"cost": series(metrics.COST_USD_PER_HOUR, "Sum", environment, fleet)},
        label="dollars",
        period=MINUTE,
    )
    return graph("Dollars for a million tokens, all nodes", Unit.NONE, [price])


def _nodes(environment: str, fleet: InferenceFleet, names: EndpointNames) -> Shape:
    lines: list[cw.IMetric] = [series(metrics.PRESENT_NODES, "Maximum", environment, fleet.name, label="in EC2")]
    if fleet.scaling is not None:
        lines += [
            cw.Metric(
                namespace=auto_scaling.NAMESPACE,
                metric_name=name,
                statistic="Maximum",
                dimensions_map=dict(auto_scaling.dimensions(names.node_group)),
                period=MINUTE,
                label=label,
            )
            for name, label in ((auto_scaling.DESIRED, "asked for"), (auto_scaling.IN_SERVICE, "in service"))
        ]
    lines.append(
        cw.Metric(
            namespace=operations_metrics.NAMESPACE,
            metric_name=operations_metrics.ROLLOUTS_IN_PROGRESS.name,
            statistic="Maximum",
            dimensions_map={operations_metrics.ENVIRONMENT: environment},
            period=MINUTE,
            label="rollout under way (any endpoint)",
        )
    )
    return graph("Nodes, the candidate's included", Unit.COUNT, lines)
