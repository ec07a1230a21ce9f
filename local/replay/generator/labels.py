"""What an operator would want to hear, worked out from what was put into a scenario, whatever any alarm does.

docs/benchmark.md has the rules in words. None of them looks at an alarm's window or threshold.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fleet.alarms import Severity
from fleet.fleet_spec import MarketKind
from local.replay.generator.site import PAGE_USD_PER_HOUR, Placed, Site
from local.replay.generator.track import SILENT, Stretch
from local.replay.scenario import Incident
from local.replay.tells import IncidentKind
from local.simulation.script import PhaseKind

# From here on telling is right, and silence too: whether it is worth it differs from owner to owner.
CARES_USD_PER_HOUR: Final = 5.0
# Until somebody who was woken can do anything, what ends by itself has ended.
HANDS_ON_MINUTES: Final = 15
# A pause that nobody announced and that cost so much may be asked about.
PAUSE_USD: Final = 15.0
# A compilation that may be asked about in the morning.
LONG_COMPILATION_MINUTES: Final = 60
DEADLINES: Final[Mapping[IncidentKind, int]] = {
    "hardware": 5,
    "loss": 10,
    "endpoint": 10,
    "hang": 20,
    "idle": 20,
    "blind": 20,
    "waste": 30,
    "capacity": 30,
    "crash-loop": 45,
    "straggler": 60,
    "spool": 60,
    "unused": 60,
    "compiler": 180,
}
"""By when an operator wants to know, in minutes from the beginning."""
_PREPAID_DEADLINE: Final = 240
_PREPAID: Final = frozenset({MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK})


def burns(
    site: Site, placed: Placed, kind: IncidentKind, span: tuple[int, int], *, lost: float = 1.0, more_minutes: int = 0
) -> None:
    """Money burns on all nodes of a job: a page where it is much, and never for what is little.

    ``lost`` is the share of the price that buys nothing; so many ``more_minutes`` may pass until somebody knows.
    """
    usd = len(placed.nodes) * site.machine.usd_per_hour * lost
    label = _label(site, kind, span, placed, usd)
    label["by"] = min(label["by"] + more_minutes, max(label["by"], label["until"]))
    if usd < CARES_USD_PER_HOUR:
        label |= {"severity": Severity.TICKET, "optional": True}
    elif usd < PAGE_USD_PER_HOUR:
        label |= {"optional": True}
    site.incidents.append(Incident.model_validate(label))


def broken(
    site: Site, placed: Placed, kind: IncidentKind, span: tuple[int, int], nodes: tuple[int, ...], **more: object
) -> None:
    """Something is broken, and is wanted to be known whatever it costs."""
    usd = len(placed.nodes) * site.machine.usd_per_hour if kind != "blind" else 0.0
    site.incidents.append(Incident.model_validate(_label(site, kind, span, placed, usd) | {"nodes": nodes, **more}))


def unused(site: Site, placed: Placed, span: tuple[int, int]) -> None:
    """Nodes that have no job. What is paid in advance costs no more for it: that is a matter for the morning."""
    usd = len(placed.nodes) * site.machine.usd_per_hour
    if site.machine.market not in _PREPAID:
        burns(site, placed, "unused", span)
        return
    label = _label(site, "unused", span, placed, usd) | {"severity": Severity.TICKET}
    by = span[0] + _PREPAID_DEADLINE
    if by > min(span[1], site.minutes) or usd < CARES_USD_PER_HOUR:
        label |= {"optional": True}
    else:
        label |= {"by": by}
    site.incidents.append(Incident.model_validate(label))


def may_be_asked(site: Site, placed: Placed) -> None:
    """What a day that is well has in it and somebody may ask about: long dear pauses, long compilations."""
    usd = len(placed.nodes) * site.machine.usd_per_hour
    for pause in _silent(placed.track.stretches):
        minutes = pause.until - pause.at
        if pause.shown.announces is None and minutes > HANDS_ON_MINUTES and usd * minutes / 60 >= PAUSE_USD:
            _optional(site, placed, "idle", (pause.at, pause.until), Severity.PAGE)
    for each in placed.track.stretches:
        compiles = each.shown.kind in {PhaseKind.COMPILING, PhaseKind.WAITING}
        if compiles and each.until - each.at >= LONG_COMPILATION_MINUTES:
            _optional(site, placed, "compiler", (each.at, each.until), Severity.TICKET)


def _silent(stretches: Iterable[Stretch]) -> list[Stretch]:
    return [each for each in stretches if each.shown.kind in SILENT]


def _optional(site: Site, placed: Placed, kind: IncidentKind, span: tuple[int, int], severity: Severity) -> None:
    inside = any(
        each.job == placed.id and each.at <= span[0] < each.until and not each.optional for each in site.incidents
    )
    if not inside:
        label = _label(site, kind, span, placed, 0.0) | {"severity": severity, "optional": True}
        site.incidents.append(Incident.model_validate(label))


def _label(
    site: Site, kind: IncidentKind, span: tuple[int, int], placed: Placed, usd_per_hour: float
) -> dict[str, Any]:
    at, until = span[0], min(span[1], site.minutes)
    return {
        "fleet": site.name,
        "kind": kind,
        "at": at,
        "by": max(at + 1, min(at + DEADLINES[kind], until)),
        "until": until,
        "job": placed.id,
        "nodes": placed.nodes,
        "usd_per_hour": round(usd_per_hour, 2),
    }
