"""Jobs that hold nodes and do nothing with them, judged in dollars: a page above the fleet's floor, else a ticket.

Every node judges its own jobs (``fleet.idleness``), so one minute of its verdict is minutes of rest already.
"""

from typing import Final

from fleet import metrics
from fleet.alarm_page import EvidenceKind
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Area, Comparison, Severity, TreatMissingData

SMALLEST_FLOOR: Final = 0.01
# A person thinks, and has lunch, while a notebook holds its cores: below the floor that is nobody's business.
TICKET_MINUTES: Final = 45
# Four: while the newest minutes are not complete, a peer that compiles may not be seen yet. Of a quarter of an hour:
# a job that flaps, or metrics that are missing for ten minutes, are one incident.
_DATAPOINTS: Final = (4, 15)
DATAPOINTS_OF_TICKETS: Final = (TICKET_MINUTES, TICKET_MINUTES + 10)

_Named = tuple[tuple[str, MetricRef], ...]


def idle_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """The page and, below its floor, the ticket; of an endpoint one ticket: its users may sleep, and all is well."""
    if settings.purpose == "inference":
        return (_idle(settings, Severity.TICKET, floor=SMALLEST_FLOOR),)
    return (_idle(settings, Severity.PAGE, floor=floor_of(settings)), _below_floor(settings))


def floor_of(settings: AlarmSettings) -> float:
    """Dollars an hour from which on somebody is woken for a job that does nothing."""
    return max(settings.thresholds.idle_floor, SMALLEST_FLOOR)


def _idle(settings: AlarmSettings, severity: Severity, *, floor: float) -> AlarmSpec:
    return settings.about(Area.UTILIZATION).alarm(
        severity,
        "IdleAllocated",
        summary="A job holds NeuronCores and hardly uses them.",
        action="Ask the job's owner whether it still runs; if nobody answers, stop it so that the cores are free.",
        evidence=EvidenceKind.IDLE_JOBS,
        metric=usd_per_hour(settings, "{usd}", _RESTING, _resting(settings)),
        comparison=Comparison.AT_LEAST,
        threshold=floor,
        datapoints=_DATAPOINTS,
        silence=TreatMissingData.NOT_BREACHING,
    )


def _below_floor(settings: AlarmSettings) -> AlarmSpec:
    floor = floor_of(settings)
    hung = ("hung", settings.metric(metrics.NODES_HUNG, "Average"))
    nodes = f"({_RESTING} + FILL(hung, 0))"
    return settings.about(Area.UTILIZATION).ticket(
        "IdleBelowFloor",
        title="Idle below floor",
        summary=f"A job holds NeuronCores and hardly uses them, or hangs, for less than {floor:g} dollars an hour.",
        action="Ask the job's owner in the morning whether it still runs.",
        evidence=EvidenceKind.IDLE_JOBS,
        metric=usd_per_hour(settings, f"IF({{usd}} < {floor:g}, {{usd}}, 0)", nodes, (*_resting(settings), hung)),
        comparison=Comparison.ABOVE,
        threshold=0,
        datapoints=DATAPOINTS_OF_TICKETS,
        silence=TreatMissingData.NOT_BREACHING,
    )


# Nodes of idle jobs, and of jobs that have not begun while nobody compiles for them. While a node compiles, those that
# have not begun are left out, and with them as many idle ones as are within their grace.
_RESTING: Final = "IF(FILL(compiling, 0) >= 1, IF(idle > starting, idle - starting, 0), idle)"


def _resting(settings: AlarmSettings) -> _Named:
    return (
        ("idle", settings.metric(metrics.NODES_IDLE, "Average")),
        ("compiling", settings.metric(metrics.NODES_COMPILING, "Maximum")),
        ("starting", settings.metric(metrics.NODES_STARTUP, "Average")),
    )


def usd_per_hour(
    settings: AlarmSettings, expression: str, nodes: str, named: _Named, unpriced: float | None = None
) -> MathRef:
    """``expression`` of ``{usd}``, the dollars an hour of ``nodes``: their average over the fleet's.

    An average, because a sum doubles when a batch is sent twice. Where no price is known each node counts as
    ``unpriced``, by default the floor: what is not known is not cheap.
    """
    price = floor_of(settings) if unpriced is None else unpriced
    usd = f"({nodes} * FILL(present, 1) * FILL(price, {price:g}))"
    return MathRef(
        expression.format(usd=usd),
        (
            *named,
            ("present", settings.metric(metrics.PRESENT_NODES, "Maximum")),
            ("price", settings.metric(metrics.COST_USD_PER_HOUR, "Average")),
        ),
    )
