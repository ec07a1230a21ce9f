"""What there is to see of an endpoint that ECS runs: its answers, how full it is, what they cost, and its cores."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_cloudwatch as cw

from dashboards import compilation, cores, money
from dashboards.by_job import per_job, search
from dashboards.widgets import MINUTE, Row, Shape, balancer_series, graph, node_states, row, series, target
from environments.fleets import InferenceFleet
from fleet import auto_scaling, load_balancer, metrics, operations_metrics
from fleet.alarms import Spec, drawn_on
from fleet.load_balancer import EndpointNames
from fleet.metrics import MetricSpec, Unit
from fleet.serving.scaling import Targets


def heading(fleet: InferenceFleet) -> str:
    """What it is and whose, as Markdown."""
    return f"## {fleet.name}\n{fleet.nodes} x {fleet.instance_type}, owner {fleet.owner}"


def answers(names: EndpointNames, specs: Sequence[Spec]) -> tuple[Shape, ...]:
    """Requests, failures, latency and targets, with the thresholds of its alarms."""
    return (
        graph(
            "Requests a minute",
            Unit.COUNT,
            [balancer_series(names, load_balancer.REQUEST_COUNT, "Sum", label="requests")],
        ),
        graph(
            "Failed requests a minute",
            Unit.COUNT,
            [
                balancer_series(names, load_balancer.TARGET_5XX, "Sum", label="by a task"),
                balancer_series(names, load_balancer.BALANCER_5XX, "Sum", label="by the load balancer"),
            ],
        ),
        graph(
            "Latency",
            Unit.SECONDS,
            [
                balancer_series(names, load_balancer.TARGET_RESPONSE_TIME, statistic, label=statistic)
                for statistic in ("p50", "p99")
            ],
            alarms=drawn_on(load_balancer.TARGET_RESPONSE_TIME, specs),
        ),
        graph(
            "Targets",
            Unit.COUNT,
            [
                balancer_series(names, load_balancer.HEALTHY_HOST_COUNT, "Minimum", label="healthy"),
                balancer_series(names, load_balancer.UNHEALTHY_HOST_COUNT, "Maximum", label="unhealthy"),
            ],
            alarms=drawn_on(load_balancer.HEALTHY_HOST_COUNT, specs),
        ),
    )


def load_and_cores(environment: str, fleet: InferenceFleet, specs: Sequence[Spec], names: EndpointNames) -> list[Row]:
    """How full it is and what that costs, what its cores do, and each of them."""
    core = metrics.NEURON_CORE_UTILIZATION
    return [
        load_row(environment, fleet, names),
        row(
            graph(
                "Tensor engines",
                Unit.PERCENT,
                [series(metrics.TENSOR_ENGINE_UTILIZATION, "Average", environment, fleet.name)],
            ),
            graph(
                "NeuronCores",
                Unit.PERCENT,
                [series(core, statistic, environment, fleet.name, label=statistic) for statistic in ("p50", "Maximum")],
            ),
            graph(
                "Device memory used",
                Unit.PERCENT,
                [series(metrics.HBM_USED_PERCENT, "Maximum", environment, fleet.name)],
                alarms=drawn_on(metrics.HBM_USED_PERCENT.name, specs),
            ),
            node_states(environment, fleet.name),
        ),
        row(
            cores.heat("Cores by how busy they are", core, environment, fleet.name),
            compilation.serving(environment, fleet.name, specs),
            per_job("Tokens a second, by task", metrics.TOKENS_PER_SECOND, "Sum", environment, fleet.name),
            money.so_far(environment, fleet.name),
        ),
        row(
            cores.spread_table(environment, fleet.name, fleet.nodes),
            cores.core_table(environment, fleet.name, fleet.nodes),
        ),
    ]


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
