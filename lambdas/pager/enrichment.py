"""Which log tells more about an alarm, the query to it, and what came back. Nothing here keeps a page back.

All of it together has ``BUDGET`` seconds: whatever is slow, be it a name server, is left behind and the bare page goes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from fleet import naming
from fleet.alarm_page import AlarmPage, EvidenceKind
from fleet.paging import SMALL_FLEET
from lambdas.pager import capacity, evidence, idle_allocated, node_states, non_finite_loss
from lambdas.pager.capacity import Capacity
from lambdas.pager.changes import Changes, Spell
from lambdas.pager.errors import EnrichmentError
from lambdas.pager.evidence import Evidence
from lambdas.pager.model import AlarmChange, CapacityEvent, NodeEvent, State

Event = TypeVar("Event")

Found = TypeVar("Found")

BUDGET: Final = 5.0
# Asked beside the logs, so that it costs no time.
CHANGES_BUDGET: Final = 1.5

# Their dollars are those of some jobs, and the mean is of all nodes.
_OF_JOBS: Final = frozenset({EvidenceKind.IDLE_JOBS, EvidenceKind.LOST_JOBS})
# SMALL_FLEET nodes for 20 minutes. What a larger fleet does is summed up by the query itself.
NODE_EVENTS: Final = 20 * SMALL_FLEET
# One a minute, and one more for each event that makes the watch look.
CAPACITY_EVENTS: Final = 200


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What is known beyond the alarm itself; ``problem`` says why there is less than there should be.

    ``query`` is None when there is no log to look into; ``about_capacity`` says into which one else.
    """

    query: str | None = None
    about_capacity: bool = False
    evidence: Evidence | None = None
    capacity: Capacity | None = None
    problem: str | None = None
    changes: tuple[Spell, ...] | None = None


class Events(Protocol[Event]):
    """The events of one log group."""

    def read(self, query: str, start: datetime, end: datetime) -> list[Event]:
        """The events of the time range, or EnrichmentError."""


class Waste(Protocol):
    """What a fleet's mean node wastes."""

    def per_node(self, fleet: str, start: datetime, end: datetime) -> dict[datetime, float]:
        """USD an hour by minute; empty when nobody says."""


class Within(Protocol):
    """A limit of time."""

    def __call__(self, seconds: float, work: Callable[[], Enrichment], /) -> Enrichment:
        """What ``work`` finds; EnrichmentError when it takes longer."""


class Meanwhile(Protocol):
    """Work beside other work."""

    def __call__(self, seconds: float, work: Callable[[], Found], /) -> Callable[[], Found | None]:
        """A function that gives what ``work`` finds within ``seconds`` from now, else None."""


@dataclass(frozen=True, slots=True)
class Logs:
    """Where to look: what agents write, what the capacity watch writes, and what says that something is changed.

    ``states`` are the first and last events of the states of the nodes of a large fleet, ``waste`` its dollars between.
    """

    nodes: Events[NodeEvent]
    states: Events[NodeEvent]
    capacity: Events[CapacityEvent]
    waste: Waste
    changes: Changes
    within: Within
    meanwhile: Meanwhile
    large_fleets: frozenset[str] = frozenset()


def enrich(alarm: AlarmPage, change: AlarmChange, logs: Logs) -> Enrichment:
    """Look the alarm up; for one that is over only the query is named."""
    if change.state is not State.ALARM:
        return _looked_up(alarm, change, logs)
    changed = logs.meanwhile(CHANGES_BUDGET, lambda: logs.changes.before(change.changed_at))
    return replace(_looked_up(alarm, change, logs), changes=changed())


def _looked_up(alarm: AlarmPage, change: AlarmChange, logs: Logs) -> Enrichment:
    split = naming.split_alarm_name(change.name)
    if split is None or '"' in split[1] or "\\" in split[1]:
        problem = f"alarm {change.name} names no fleet" if change.state is State.ALARM else None
        return Enrichment(problem=problem)
    fleet = split[1]
    if alarm.evidence is EvidenceKind.NONE:
        return Enrichment()
    if alarm.evidence.is_about_capacity:
        start = Enrichment(_query(fleet, ' and kind = "capacity"', CAPACITY_EVENTS), about_capacity=True)
        return _looked(
            start, change, logs.within, lambda: replace(start, capacity=_capacity(start, alarm, change, logs))
        )
    start = Enrichment(node_states.query(fleet) if fleet in logs.large_fleets else _query(fleet, "", NODE_EVENTS))
    return _looked(start, change, logs.within, lambda: replace(start, evidence=_evidence(start, alarm, change, logs)))


def _looked(start: Enrichment, change: AlarmChange, within: Within, look: Callable[[], Enrichment]) -> Enrichment:
    if change.state is not State.ALARM:
        return start
    try:
        return within(BUDGET, look)
    except EnrichmentError as error:
        return replace(start, problem=str(error))
    except Exception as error:
        return replace(start, problem=f"the events could not be understood ({type(error).__name__})")


def _query(fleet: str, condition: str, limit: int) -> str:
    return f'fields @timestamp, @message | filter fleet = "{fleet}"{condition} | sort @timestamp desc | limit {limit}'


def _window(alarm: AlarmPage, change: AlarmChange) -> tuple[datetime, datetime]:
    return change.changed_at - timedelta(minutes=alarm.evidence_minutes), change.changed_at


def _evidence(of: Enrichment, alarm: AlarmPage, change: AlarmChange, logs: Logs) -> Evidence:
    window, kind = _window(alarm, change), alarm.evidence
    fleet = change.name.split("/")[1]
    is_large = fleet in logs.large_fleets
    events = (logs.states if is_large else logs.nodes).read(of.query or "", *window)
    if kind is EvidenceKind.LOST_JOBS:
        events = non_finite_loss.of_lost_jobs(events, _reports(fleet, logs, *window) if is_large else ())
    if kind is EvidenceKind.IDLE_JOBS:
        events = idle_allocated.of_idle_jobs(events)
    mean_waste = logs.waste.per_node(fleet, *window) if is_large and kind not in _OF_JOBS else {}
    found = evidence.collect(events, kind, change.changed_at, mean_waste)
    if is_large and kind is EvidenceKind.IDLE_JOBS:
        # The rows of a large fleet hold what is wasted now, and not since when.
        found = replace(found, began=None, usd_since=None)
    if not found.nodes:
        raise EnrichmentError(f"no node wrote an event in the last {alarm.evidence_minutes} minutes")
    return found


def _reports(fleet: str, logs: Logs, start: datetime, end: datetime) -> list[NodeEvent]:
    try:
        return logs.nodes.read(non_finite_loss.reports_query(fleet), start, end)
    except EnrichmentError:
        # The nodes are known all the same.
        return []


def _capacity(of: Enrichment, alarm: AlarmPage, change: AlarmChange, logs: Logs) -> Capacity:
    events = logs.capacity.read(of.query or "", *_window(alarm, change))
    found = capacity.collect(events, alarm.evidence)
    if found is None:
        raise EnrichmentError(
            f"the capacity watch wrote nothing of the fleet in the last {alarm.evidence_minutes} minutes"
        )
    return found
