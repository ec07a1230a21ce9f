"""For the people who serve: requests, errors and latency at the load balancer, and how full the cores behind it are."""

from collections.abc import Mapping, Sequence

from dashboards import compilation, cores, hosted, machinery, money
from dashboards.by_job import per_job
from dashboards.endpoint_load import load_row
from dashboards.widgets import Row, balancer_series, graph, node_states, row, series, text
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import load_balancer, metrics
from fleet.alarms import AlarmSpec, Spec
from fleet.alarms.scaling import seen_by
from fleet.load_balancer import EndpointNames
from fleet.metrics import Unit


def rows(
    environment: Environment, specs: Mapping[str, tuple[Spec, ...]], endpoints: Mapping[str, EndpointNames]
) -> list[Row]:
    """One section per endpoint."""
    sections = [
        _section(environment.name, fleet, specs[fleet.name], endpoints[fleet.name])
        for fleet in environment.inference_fleets
        if fleet.name in endpoints
    ]
    sections += [
        hosted.section(environment.name, environment.region, fleet, specs[fleet.name])
        for fleet in environment.hosted_fleets
    ]
    if not sections:
        return []
    return [
        row(money.price_text(environment)),
        row(machinery.changes(environment.name)),
        *(widgets for section in sections for widgets in section),
    ]


def _section(environment: str, fleet: InferenceFleet, specs: Sequence[Spec], names: EndpointNames) -> list[Row]:
    thresholds = {spec.key: spec for spec in specs if isinstance(spec, AlarmSpec)}
    core = metrics.NEURON_CORE_UTILIZATION
    return [
        row(text(f"## {fleet.name}\n{fleet.nodes} x {fleet.instance_type}, owner {fleet.owner}")),
        row(
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
                alarms=[thresholds["EndpointLatencyP99"]],
            ),
            graph(
                "Targets",
                Unit.COUNT,
                [
                    balancer_series(names, load_balancer.HEALTHY_HOST_COUNT, "Minimum", label="healthy"),
                    balancer_series(names, load_balancer.UNHEALTHY_HOST_COUNT, "Maximum", label="unhealthy"),
                ],
                alarms=[seen_by(specs, "NoHealthyTargets")],
            ),
        ),
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
                alarms=[thresholds["HbmPressure"]],
            ),
            node_states(environment, fleet.name),
        ),
        row(
            cores.heat("Cores by how busy they are", core, environment, fleet.name),
            compilation.serving(environment, fleet.name, miss=thresholds["CacheMissWhileServing"]),
            per_job("Tokens a second, by task", metrics.TOKENS_PER_SECOND, "Sum", environment, fleet.name),
            money.so_far(environment, fleet.name),
        ),
        row(
            cores.spread_table(environment, fleet.name, fleet.nodes),
            cores.core_table(environment, fleet.name, fleet.nodes),
        ),
    ]
