"""Jobs that hold nodes and do nothing with them, judged in dollars: a page above the fleet's floor, else a ticket.

Every node judges its own jobs (``fleet.idleness``), so one minute of its verdict is minutes of rest already.
"""

from typing import Final

from fleet import metrics
from fleet.alarm_page import EvidenceKind
from fleet.alarms.metric_refs import MathRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Area, Comparison, Severity, TreatMissingData

# Four: while the newest minutes are not complete, a peer that compiles may not be seen yet. Of a quarter of an hour:
# a job that flaps, or metrics that are missing for ten minutes, are one incident.
_DATAPOINTS: Final = (4, 15)
# What waits for the morning need not be told of in the first minutes.
DATAPOINTS_OF_TICKETS: Final = (20, 30)
SMALLEST_FLOOR: Final = 0.01


def idle_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """The page and, below its floor, the ticket; of an endpoint one ticket: its users may sleep, and all is well."""
    if settings.purpose == "inference":
        return (_idle(settings, Severity.TICKET, floor=0.0),)
    return (_idle(settings, Severity.PAGE, floor=settings.thresholds.idle_floor), _below_floor(settings))


def _idle(settings: AlarmSettings, severity: Severity, *, floor: float) -> AlarmSpec:
    return settings.about(Area.UTILIZATION).alarm(
        severity,
        "IdleAllocated",
        summary="A job holds NeuronCores and hardly uses them.",
        action="Ask the job's owner whether it still runs; if nobody answers, stop it so that the cores are free.",
        evidence=EvidenceKind.IDLE_JOBS,
        metric=_usd_per_hour(settings, "{usd}", max(floor, SMALLEST_FLOOR)),
        comparison=Comparison.AT_LEAST,
        threshold=max(floor, SMALLEST_FLOOR),
        datapoints=_DATAPOINTS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def _below_floor(settings: AlarmSettings) -> AlarmSpec:
    floor = max(settings.thresholds.idle_floor, SMALLEST_FLOOR)
    return settings.about(Area.UTILIZATION).ticket(
        "IdleBelowFloor",
        title="Idle below floor",
        summary=f"A job holds NeuronCores and hardly uses them, for less than {floor:g} dollars an hour.",
        action="Ask the job's owner in the morning whether it still runs.",
        evidence=EvidenceKind.IDLE_JOBS,
        metric=_usd_per_hour(settings, f"IF({{usd}} < {floor:g}, {{usd}}, 0)", floor),
        comparison=Comparison.ABOVE,
        threshold=0,
        datapoints=DATAPOINTS_OF_TICKETS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def _usd_per_hour(settings: AlarmSettings, expression: str, unpriced: float) -> MathRef:
    """Dollars an hour of idle jobs, and of jobs that have not begun while nobody compiles for them.

    While a node compiles, those that have not begun are left out, and with them as many idle ones as are within their
    grace. Averages over nodes, because a sum doubles when a batch is sent twice. Where no price is known each node
    counts as ``unpriced``: what is not known is not cheap.
    """
    nodes = "IF(FILL(compiling, 0) >= 1, IF(idle > starting, idle - starting, 0), idle)"
    usd = f"{nodes} * FILL(present, 1) * FILL(price, {unpriced:g})"
    return MathRef(
        expression.format(usd=f"({usd})"),
        (
            ("idle", settings.metric(metrics.NODES_IDLE, "Average")),
            ("compiling", settings.metric(metrics.NODES_COMPILING, "Maximum")),
            ("starting", settings.metric(metrics.NODES_STARTUP, "Average")),
            ("present", settings.metric(metrics.PRESENT_NODES, "Maximum")),
            ("price", settings.metric(metrics.COST_USD_PER_HOUR, "Average")),
        ),
    )
