"""For the people who train: how full the tensor engines are, what the jobs do, what compiling costs."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards import compilation, cores, money, network
from dashboards.by_job import work_rows
from dashboards.widgets import MINUTE, Row, graph, node_states, row, series, text, watched
from environments.fleets import TrainingFleet
from fleet import metrics
from fleet.alarms import Spec, drawn_on
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import MetricSpec, Unit


def rows(
    environment: str,
    fleets: Sequence[TrainingFleet],
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, tuple[Spec, ...]],
) -> list[Row]:
    """One section for each of ``fleets``; ``plans`` are those of all."""
    sections = [_section(environment, fleet, plans[fleet.name], specs[fleet.name]) for fleet in fleets]
    return [row(money.price_text(plans.values())), *(widgets for section in sections for widgets in section)]


def _section(environment: str, fleet: TrainingFleet, plan: LaunchPlan, specs: Sequence[Spec]) -> list[Row]:
    name = fleet.name
    stragglers = drawn_on(metrics.JOB_CORES_APART.name, specs)
    worst_tensor_engine = _worst_job(metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, environment, name)
    worst_core = _worst_job(metrics.LOWEST_JOB_CORE_UTILIZATION, environment, name)
    return [
        row(text(f"## {name}\n{fleet.nodes} x {fleet.instance_type}, owner {fleet.owner}")),
        row(
            graph(
                "Tensor engines, running jobs",
                Unit.PERCENT,
                [*_spread(metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, environment, name), worst_tensor_engine],
                alarms=drawn_on(metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION.name, specs),
            ),
            graph(
                "NeuronCores, running jobs",
                Unit.PERCENT,
                [*_spread(metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, environment, name), worst_core],
                alarms=drawn_on(metrics.LOWEST_JOB_CORE_UTILIZATION.name, specs),
            ),
            graph(
                "Device memory used",
                Unit.PERCENT,
                [series(metrics.HBM_USED_PERCENT, s, environment, name, label=s) for s in ("Average", "Maximum")],
                alarms=drawn_on(metrics.HBM_USED_PERCENT.name, specs),
            ),
            graph(
                "Memory used of one device",
                Unit.BYTES,
                [series(metrics.HBM_USED_BYTES, s, environment, name, label=s) for s in ("Average", "Maximum")],
            ),
        ),
        row(
            cores.heat(
                "Cores by how full their tensor engine is",
                metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING,
                environment,
                name,
            )
            if fleet.reports_flops
            else cores.heat(
                "Cores by how busy they are", metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, environment, name
            ),
            graph(
                "Stragglers: points between cores",
                Unit.NONE,
                [
                    _furthest_apart(environment, name),
                    *(watched(alarm, label="slowest behind its job's median, if many") for alarm in stragglers),
                ],
                alarms=stragglers,
            ),
            money.so_far(environment, name),
        ),
        row(
            graph(
                "Executions a minute",
                Unit.COUNT,
                [
                    series(metrics.EXECUTIONS_COMPLETED, "Sum", environment, name, label="completed"),
                    series(metrics.EXECUTION_ERRORS, "Sum", environment, name, label="failed"),
                    series(metrics.NODES_HUNG, "Sum", environment, name, label="nodes with a hung job"),
                ],
            ),
            graph(
                "Worst execution p99",
                Unit.SECONDS,
                [series(metrics.EXECUTION_LATENCY_P99, "Maximum", environment, name)],
            ),
            graph("Achieved TFLOP/s", Unit.NONE, [series(metrics.ACHIEVED_TFLOPS, "Sum", environment, name)]),
            node_states(environment, name),
        ),
        work_rows(environment, name),
        *compilation.rows(environment, name, specs),
        *network.rows(environment, plan),
        row(cores.spread_table(environment, name, fleet.nodes), cores.core_table(environment, name, fleet.nodes)),
    ]


def _spread(spec: MetricSpec, environment: str, fleet: str) -> list[cw.IMetric]:
    return [series(spec, statistic, environment, fleet, label=statistic) for statistic in ("p10", "p50", "Average")]


def _worst_job(spec: MetricSpec, environment: str, fleet: str) -> cw.IMetric:
    return series(spec, "Minimum", environment, fleet, label="worst job")


def _furthest_apart(environment: str, fleet: str) -> cw.IMetric:
    """No core is further behind its own job than these two are apart; within 20 points no job is asked for."""
    spec = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING
    ends = {name: series(spec, name.title(), environment, fleet) for name in ("maximum", "minimum")}
    return cw.MathExpression(
        expression="maximum - minimum", using_metrics=ends, label="fastest and slowest of the fleet", period=MINUTE
    )
