"""Is the work worth its dollars: idle jobs, low utilization, hangs, stragglers."""

from typing import Final

from fleet import metrics
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import (
    AlarmSpec,
    AllOf,
    Comparison,
    CompositeSpec,
    InAlarm,
    MathRef,
    Not,
    Severity,
    Silence,
)

IDLE_PERCENT: Final = 5.0
STRAGGLER_POINTS: Final = 20.0


def _severity(settings: AlarmSettings) -> Severity:
    # An endpoint whose users sleep is idle and well: too many nodes for its traffic is a matter for the morning.
    return Severity.TICKET if settings.purpose == "inference" else Severity.PAGE


def idle_allocated(settings: AlarmSettings) -> AlarmSpec:
    """A job that holds cores and does next to nothing with them."""
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="IdleAllocated",
        severity=_severity(settings),
        summary="A job holds NeuronCores and hardly uses them.",
        action="Ask the job's owner whether it still runs; if nobody answers, stop it so that the cores are free.",
        metric=settings.metric(metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, "Average"),
        comparison=Comparison.BELOW,
        threshold=IDLE_PERCENT,
        datapoints=(4, 5),
        silence=Silence.NOT_BREACHING,
    )


def low_utilization_parts(settings: AlarmSettings) -> tuple[AlarmSpec, AlarmSpec]:
    """The two halves of LowUtilization: the percentage, and the dollars. They tell nobody by themselves."""
    thresholds = settings.thresholds
    measured, threshold = (
        (metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, thresholds.low_utilization_percent)
        if settings.reports_flops
        else (metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, thresholds.low_core_utilization_percent)
    )
    below = AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="UtilizationBelowThreshold",
        severity=Severity.PAGE,
        summary=f"A tenth of the cores that run a job stay below {threshold:g} % utilization.",
        action="Read LowUtilization, which also looks at the dollars.",
        # The mean over a fleet hides one bad job among good ones; its slowest tenth of cores does not.
        metric=settings.metric(measured, "p10"),
        comparison=Comparison.BELOW,
        threshold=threshold,
        datapoints=(12, 15),
        silence=Silence.NOT_BREACHING,
        notifies=False,
    )
    waste = AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="WasteAboveThreshold",
        severity=Severity.PAGE,
        summary=f"A node wastes more than {thresholds.wasted_usd_per_node_hour:g} dollars an hour.",
        action="Read LowUtilization, which also looks at the utilization.",
        metric=settings.metric(metrics.WASTED_USD_PER_HOUR, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=thresholds.wasted_usd_per_node_hour,
        datapoints=(12, 15),
        silence=Silence.NOT_BREACHING,
        notifies=False,
    )
    return below, waste


def low_utilization(
    settings: AlarmSettings, *, below: AlarmSpec, waste: AlarmSpec, fault: AlarmSpec, idle: AlarmSpec
) -> CompositeSpec:
    """The page for a job that runs and wastes: a percentage alone is no reason to wake anybody, dollars are."""
    return CompositeSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="LowUtilization",
        severity=_severity(settings),
        summary="A running job uses too little of the accelerators that it pays for.",
        action="On the worst nodes look for a starved input pipeline first, then recompilation, then a slow peer.",
        # A fault and an idle job are their own pages, with other things to do.
        rule=AllOf((InAlarm(below), InAlarm(waste), Not(InAlarm(fault)), Not(InAlarm(idle)))),
    )


def job_hang(settings: AlarmSettings) -> AlarmSpec:
    """No progress, though a job runs: busy cores are no proof, collectives spin while they wait."""
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="JobHang",
        severity=Severity.PAGE,
        summary="A job should be running, and no node has completed an execution for ten minutes.",
        action="Take stack traces of the workers, find the rank that the others wait for, and restart the job.",
        metric=MathRef(
            "IF(running >= 1 AND completed < 1, 1, 0)",
            (
                ("running", settings.metric(metrics.NODES_RUNNING, "Maximum")),
                ("completed", settings.metric(metrics.EXECUTIONS_COMPLETED, "Maximum")),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(10, 10),
        silence=Silence.NOT_BREACHING,
    )


def straggler(settings: AlarmSettings) -> AlarmSpec:
    """One core far behind the others: in synchronous training everybody waits for it."""
    measured = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="Straggler",
        severity=Severity.TICKET,
        summary=f"The slowest core is more than {STRAGGLER_POINTS:g} points of utilization behind the median.",
        action="Find the node in the worst-nodes table and compare its clocks, EFA counters and ECC with its peers.",
        metric=MathRef(
            "median - slowest",
            (
                ("median", settings.metric(measured, "p50")),
                ("slowest", settings.metric(measured, "Minimum")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=STRAGGLER_POINTS,
        datapoints=(10, 10),
        silence=Silence.NOT_BREACHING,
    )
