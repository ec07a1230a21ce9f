"""Is the work worth its dollars: idle jobs, low utilization, hangs, stragglers."""

from fleet import metrics, naming
from fleet.alarm_page import EvidenceKind
from fleet.alarms.changes import change_in_progress
from fleet.alarms.idle import floor_of, usd_per_hour
from fleet.alarms.metric_refs import MathRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import (
    AlarmSpec,
    AllOf,
    Area,
    Comparison,
    CompositeSpec,
    InAlarm,
    Not,
    Severity,
    TreatMissingData,
)
from fleet.idleness import IDLE_PERCENT
from fleet.job_progress import HANG_MINUTES
from fleet.lateness import lasting
from fleet.stragglers import STRAGGLER_POINTS


def _severity(settings: AlarmSettings) -> Severity:
    # An endpoint whose users sleep is idle and well: too many nodes for its traffic is a matter for the morning.
    return Severity.TICKET if settings.purpose == "inference" else Severity.PAGE


def _window(settings: AlarmSettings, training: tuple[int, int], inference: tuple[int, int]) -> tuple[int, int]:
    # A lull of a quarter of an hour is an endpoint's ordinary life.
    return inference if settings.purpose == "inference" else training


def low_utilization_parts(settings: AlarmSettings) -> tuple[AlarmSpec, AlarmSpec]:
    """The two halves of LowUtilization: the percentage, and the dollars. They tell nobody by themselves."""
    thresholds = settings.thresholds
    measured, threshold = (
        (metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, thresholds.low_utilization_percent)
        if settings.reports_flops
        else (metrics.LOWEST_JOB_CORE_UTILIZATION, thresholds.low_core_utilization_percent)
    )
    below = settings.about(Area.UTILIZATION).page(
        "UtilizationBelowThreshold",
        summary=f"A job on some node stays below {threshold:g} % utilization.",
        action="Read LowUtilization, which also looks at the dollars.",
        # A mean over the fleet hides one bad job among good ones, and so does a percentile of its cores when the job
        # is small; the worst job of the worst node does not.
        metric=settings.metric(measured, "Minimum"),
        comparison=Comparison.BELOW,
        threshold=threshold,
        datapoints=_window(settings, lasting(12), (36, 45)),
        silence=TreatMissingData.NOT_BREACHING,
        drawn_on=measured.name,
        notifies=False,
    )
    waste = settings.about(Area.UTILIZATION).page(
        "WasteAboveThreshold",
        summary=f"A node wastes more than {thresholds.wasted_usd_per_node_hour:g} dollars an hour.",
        action="Read LowUtilization, which also looks at the utilization.",
        metric=settings.metric(metrics.WASTED_USD_PER_HOUR, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=thresholds.wasted_usd_per_node_hour,
        datapoints=_window(settings, lasting(12), (36, 45)),
        silence=TreatMissingData.NOT_BREACHING,
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
        area=Area.UTILIZATION,
        key="LowUtilization",
        title="Low utilization",
        severity=_severity(settings),
        summary="A running job uses too little of the accelerators that it pays for.",
        action="On the worst nodes look for a starved input pipeline first, then recompilation, then a slow peer.",
        # A fault and an idle job are their own pages, with other things to do.
        rule=AllOf((InAlarm(below), InAlarm(waste), Not(InAlarm(fault)), Not(InAlarm(idle)))),
        # Nodes that are replaced under a job do little, and everybody who would be woken knows why.
        suppressed_by=change_in_progress(settings.environment),
    )


def non_finite_loss(settings: AlarmSettings) -> AlarmSpec:
    """A job whose loss is no number any more: whatever it computes from now on is lost."""
    return settings.about(Area.UTILIZATION).page(
        "NonFiniteLoss",
        title="Non-finite loss",
        summary="A job's loss is NaN or infinite: it pays for steps that train nothing.",
        action="Tell the job's owner; stop it, and start it from the last checkpoint with a finite loss.",
        # Its owner is who can say whether it still runs, and what it said last.
        first_command=f"aws logs tail {naming.job_log_group(settings.environment)} --region {{region}} --since 1h "
        "--filter-pattern '?NaN ?nan ?inf ?checkpoint'",
        evidence=EvidenceKind.LOST_JOBS,
        metric=settings.metric(metrics.NON_FINITE_LOSS, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # Any: a loss does not come back. One page for all that follow within a quarter of an hour.
        datapoints=(1, 15),
        # Only jobs that report a loss have the metric.
        silence=TreatMissingData.NOT_BREACHING,
    )


def job_hang(settings: AlarmSettings) -> AlarmSpec:
    """No progress, though a job runs: busy cores are no proof, collectives spin while they wait."""
    return settings.about(Area.UTILIZATION).page(
        "JobHang",
        summary=f"A job should be running, and on some node it has completed no execution for {HANG_MINUTES} minutes.",
        action="Take stack traces of the workers, find the rank that the others wait for, and restart the job.",
        # Each node counts the minutes of each of its jobs: what another job completes does not hide this one's hang.
        metric=usd_per_hour(settings, "{usd}", "hung", (("hung", settings.metric(metrics.NODES_HUNG, "Average")),)),
        comparison=Comparison.AT_LEAST,
        threshold=floor_of(settings),
        datapoints=lasting(1),
        silence=TreatMissingData.NOT_BREACHING,
    )


def straggler(settings: AlarmSettings) -> AlarmSpec:
    """One core far behind the others of its job: in synchronous training everybody waits for it."""
    thresholds = settings.thresholds
    # A job that idles or starves is far behind the others too, and is another alarm's, with another thing to do.
    busy = thresholds.low_core_utilization_percent if not settings.reports_flops else IDLE_PERCENT
    excused = f"FILL(busy, 100) < {busy:g}"
    worst = [("busy", settings.metric(metrics.LOWEST_JOB_CORE_UTILIZATION, "Minimum"))]
    if settings.reports_flops:
        excused += f" OR FILL(useful, 100) < {thresholds.low_utilization_percent:g}"
        worst.append(("useful", settings.metric(metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION, "Minimum")))
    return settings.about(Area.UTILIZATION).ticket(
        "Straggler",
        summary=f"A job's slowest core is more than {STRAGGLER_POINTS:g} points of utilization behind its median core.",
        action="Find the node in the worst-nodes table and compare its clocks, EFA counters and ECC with its peers.",
        metric=MathRef(
            f"IF({excused}, 0, apart)",
            (("apart", settings.metric(metrics.JOB_CORES_APART, "Maximum")), *worst),
        ),
        comparison=Comparison.ABOVE,
        threshold=STRAGGLER_POINTS,
        datapoints=lasting(8),
        silence=TreatMissingData.NOT_BREACHING,
        drawn_on=metrics.JOB_CORES_APART.name,
    )
