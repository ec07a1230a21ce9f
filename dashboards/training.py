"""For the people who train: how full the tensor engines are, what the jobs do, what compiling costs."""

from collections.abc import Mapping, Sequence

from dashboards import compilation
from dashboards.widgets import Row, graph, node_states, row, series, text
from environments.model import Environment, TrainingFleet
from fleet import metrics
from fleet.alarms import AlarmSpec, Spec
from fleet.metrics import Unit


def rows(environment: Environment, specs: Mapping[str, tuple[Spec, ...]]) -> list[Row]:
    """One section per training fleet."""
    sections = [_section(environment.name, fleet, specs[fleet.name]) for fleet in environment.training_fleets]
    return [widgets for section in sections for widgets in section]


def _section(environment: str, fleet: TrainingFleet, specs: Sequence[Spec]) -> list[Row]:
    name = fleet.name
    thresholds = {spec.key: spec for spec in specs if isinstance(spec, AlarmSpec)}
    # The threshold belongs to the metric that the alarm reads, which depends on whether FLOPs are reported.
    low = [thresholds["UtilizationBelowThreshold"]]
    tensor_engine = metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING
    core = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING
    return [
        row(text(f"## {name}\n{fleet.nodes} x {fleet.instance_type}, owner {fleet.owner}")),
        row(
            graph(
                "Tensor engines, running jobs",
                Unit.PERCENT,
                [series(tensor_engine, statistic, environment, name, label=statistic) for statistic in _SPREAD],
                alarms=low if fleet.reports_flops else (),
            ),
            graph(
                "NeuronCores, running jobs",
                Unit.PERCENT,
                [series(core, statistic, environment, name, label=statistic) for statistic in _SPREAD],
                alarms=[thresholds["IdleAllocated"]] + ([] if fleet.reports_flops else low),
            ),
            graph(
                "Device memory used",
                Unit.PERCENT,
                [series(metrics.HBM_USED_PERCENT, s, environment, name, label=s) for s in ("Average", "Maximum")],
                alarms=[thresholds["HbmPressure"]],
            ),
        ),
        row(
            graph(
                "Executions a minute",
                Unit.COUNT,
                [
                    series(metrics.EXECUTIONS_COMPLETED, "Sum", environment, name, label="completed"),
                    series(metrics.EXECUTION_ERRORS, "Sum", environment, name, label="failed"),
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
        *compilation.rows(environment, name, failing=thresholds["CompileFailing"]),
    ]


_SPREAD = ("p10", "p50", "Average")
