"""Nodes that are paid for and get nothing done with any job, judged in dollars as idle jobs are.

Every node judges itself and its jobs (``fleet.without_job``, ``fleet.crash_loop``), so one minute of its verdict is
half an hour or three starts already.
"""

from typing import Final

from fleet import metrics, naming
from fleet.alarm_page import LONG_EVIDENCE_MINUTES, EvidenceKind
from fleet.alarms.idle import DATAPOINTS_OF_TICKETS, SMALLEST_FLOOR, usd_per_hour
from fleet.alarms.metric_refs import MathRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Area, Comparison, Severity, TreatMissingData
from fleet.crash_loop import VAIN_RUNS, WITHIN_MINUTES
from fleet.metrics import MetricSpec

# Metrics that are missing for ten minutes, or a node that is ended beside others, are one incident.
_DATAPOINTS: Final = (3, 15)


def without_job_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """The page and, below its floor, the ticket; of what is paid in advance one ticket, for it costs no more."""
    if settings.is_reserved:
        return (_without_job(settings, Severity.TICKET, floor=SMALLEST_FLOOR),)
    floor = max(settings.thresholds.burning_floor, SMALLEST_FLOOR)
    return (_without_job(settings, Severity.PAGE, floor=floor), _below_floor(settings, floor))


def _without_job(settings: AlarmSettings, severity: Severity, *, floor: float) -> AlarmSpec:
    return settings.about(Area.UTILIZATION, EvidenceKind.UNUSED_NODES).alarm(
        severity,
        "NodesWithoutJob",
        summary=f"Nodes of the fleet are paid for and have had no job for more than {settings.without_job_minutes:g} "
        "minutes.",
        action="See whether a job waits for them; if none does, let them go.",
        first_command=f"fleet jobs list {settings.environment}",
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=_usd_of(settings, metrics.NODES_UNUSED, "{usd}", floor),
        comparison=Comparison.AT_LEAST,
        threshold=floor,
        datapoints=_DATAPOINTS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def _below_floor(settings: AlarmSettings, floor: float) -> AlarmSpec:
    return settings.about(Area.UTILIZATION, EvidenceKind.UNUSED_NODES).ticket(
        "WithoutJobBelowFloor",
        summary=f"Nodes have had no job for more than {settings.without_job_minutes:g} minutes, for less than "
        f"{floor:g} dollars an hour.",
        action="See in the morning whether a job waits for them; if none does, let them go.",
        first_command=f"fleet jobs list {settings.environment}",
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=_usd_of(settings, metrics.NODES_UNUSED, f"IF({{usd}} < {floor:g}, {{usd}}, 0)", floor),
        comparison=Comparison.ABOVE,
        threshold=0,
        datapoints=DATAPOINTS_OF_TICKETS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def crash_loop(settings: AlarmSettings) -> AlarmSpec:
    """A job that starts again and again: below the floor in dollars nobody is told, as whoever tries it out sees it."""
    floor = max(settings.thresholds.burning_floor, SMALLEST_FLOOR)
    return settings.about(Area.UTILIZATION, EvidenceKind.CRASH_LOOPS).page(
        "CrashLoop",
        summary=f"A job has ended {VAIN_RUNS} times within {WITHIN_MINUTES} minutes without completing an execution, "
        "and is started again.",
        action="Read the end of its newest log, and stop the job until its owner has mended it.",
        first_command=f"aws logs tail {naming.job_log_group(settings.environment)} --region {{region}} --since 1h "
        "--filter-pattern '?Error ?error ?Traceback ?Killed'",
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=_usd_of(settings, metrics.NODES_CRASH_LOOPING, "{usd}", floor),
        comparison=Comparison.AT_LEAST,
        threshold=floor,
        datapoints=_DATAPOINTS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def _usd_of(settings: AlarmSettings, spec: MetricSpec, expression: str, unpriced: float) -> MathRef:
    return usd_per_hour(settings, expression, "nodes", (("nodes", settings.metric(spec, "Average")),), unpriced)
