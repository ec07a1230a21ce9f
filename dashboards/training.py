"""For the people who train: how full the tensor engines are, what the jobs do, what compiling costs."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards import compilation, cores, money, network
from dashboards.by_job import per_job, work_rows
from dashboards.widgets import MINUTE, Row, Shape, graph, node_states, row, series, text, watched
from environments.fleets import TrainingFleet
from fleet import metrics
from fleet.alarms import AlarmSpec, Spec, drawn_on
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import MetricSpec, Unit


def rows(
    environment: str,
    fleets: Sequence[TrainingFleet],
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, tuple[Spec, ...]],
) -> list[Row]:
    """What is looked at first of each of ``fleets``, then the details of each; ``plans`` are those of all."""
    first = [widgets for fleet in fleets for widgets in _at_a_glance(environment, fleet, specs[fleet.name])]
    details = [
        widgets for fleet in fleets for widgets in _details(environment, fleet, plans[fleet.name], specs[fleet.name])
    ]
    return [row(money.price_text(plans.values())), *first, *details]


def _at_a_glance(environment: str, fleet: TrainingFleet, specs: Sequence[Spec]) -> list[Row]:
    """What is looked at first: a screen for a fleet, above all details of the others."""
    name = fleet.name
    worst_tensor_engine = _worst_job(metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, environment, name)
    worst_core = _worst_job(metrics.LOWEST_JOB_CORE_UTILIZATION, environment, name)
    return [
        row(text(f"### {name}: {fleet.nodes} x {fleet.instance_type} planned, owner {fleet.owner}", height=1)),
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
            _heat(environment, fleet),
            node_states(environment, name),
        ),
        row(
            _executions(environment, name),
            _stragglers(environment, name, drawn_on(metrics.JOB_CORES_APART.name, specs)),
            graph(
                "Device memory used",
                Unit.PERCENT,
                [series(metrics.HBM_USED_PERCENT, s, environment, name, label=s) for s in ("Average", "Maximum")],
                alarms=drawn_on(metrics.HBM_USED_PERCENT.name, specs),
            ),
            money.so_far(environment, name),
        ),
        work_rows(environment, name),
    ]


def _details(environment: str, fleet: TrainingFleet, plan: LaunchPlan, specs: Sequence[Spec]) -> list[Row]:
    name = fleet.name
    return [
        row(text(f"### {name}: details", height=1)),
        row(cores.core_table(environment, name, fleet.nodes), cores.spread_table(environment, name, fleet.nodes)),
        row(
            per_job("Worst execution p99, by job", metrics.EXECUTION_LATENCY_P99, "Maximum", environment, name),
            graph("Achieved TFLOP/s", Unit.NONE, [series(metrics.ACHIEVED_TFLOPS, "Sum", environment, name)]),
            per_job("Memory used of one device, by job", metrics.HBM_USED_BYTES, "Maximum", environment, name),
        ),
        *compilation.rows(environment, name, specs),
        *network.rows(environment, plan),
    ]


def _heat(environment: str, fleet: TrainingFleet) -> Shape:
    if fleet.reports_flops:
        spec = metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING
        return cores.heat("Cores by how full their tensor engine is", spec, environment, fleet.name)
    spec = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING
    return cores.heat("Cores by how busy they are", spec, environment, fleet.name)


def _executions(environment: str, fleet: str) -> Shape:
    return graph(
        "Executions a minute",
        Unit.COUNT,
        [
            series(metrics.EXECUTIONS_COMPLETED, "Sum", environment, fleet, label="completed"),
            series(metrics.EXECUTION_ERRORS, "Sum", environment, fleet, label="failed"),
            series(metrics.NODES_HUNG, "Sum", environment, fleet, label="nodes with a hung job"),
            series(metrics.NODES_UNUSED, "Sum", environment, fleet, label="nodes too long without a job"),
            series(metrics.NODES_CRASH_LOOPING, "Sum", environment, fleet, label="nodes of crash-looping jobs"),
        ],
    )


def _stragglers(environment: str, fleet: str, alarms: Sequence[AlarmSpec]) -> Shape:
    lines = [watched(alarm, label="slowest behind its job's median, if many") for alarm in alarms]
    return graph(
        "Stragglers: points between cores", Unit.NONE, [_furthest_apart(environment, fleet), *lines], alarms=alarms
    )


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
