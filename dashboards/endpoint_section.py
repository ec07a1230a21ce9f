"""What there is to see of an endpoint that ECS runs: its answers at the load balancer, and the cores behind it."""

from collections.abc import Sequence

from dashboards import compilation, cores, money
from dashboards.by_job import per_job
from dashboards.endpoint_load import load_row
from dashboards.widgets import Row, Shape, balancer_series, graph, node_states, row, series
from environments.fleets import InferenceFleet
from fleet import load_balancer, metrics
from fleet.alarms import Spec, drawn_on
from fleet.load_balancer import EndpointNames
from fleet.metrics import Unit


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
