"""Which log tells more about an alarm, the query to it, and what came back. Nothing here keeps a page back.

All of it together has ``BUDGET`` seconds: whatever is slow, be it a name server, is left behind and the bare page goes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from fleet import naming
from fleet.alarms.capacity import KEYS as CAPACITY_KEYS
from fleet.alarms.changes import KEYS as CHANGE_KEYS
from fleet.alarms.operations import KEYS as OPERATIONS_KEYS
from fleet.alarms.precompile import KEYS as PRECOMPILE_KEYS
from fleet.alarms.spending import KEYS as SPENDING_KEYS
from fleet.paging import SMALL_FLEET
from lambdas.pager import capacity, evidence, idle, node_states, worthless
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

WINDOW: Final = timedelta(minutes=20)
# These are raised when something has lasted for a quarter or half an hour, and its beginning is to be seen.
LONG_WINDOW: Final = timedelta(minutes=45)
PLATFORM_KEYS: Final = OPERATIONS_KEYS | PRECOMPILE_KEYS | CHANGE_KEYS | SPENDING_KEYS | {naming.PAGE_TEST}
LONG_KEYS: Final = CAPACITY_KEYS | {"FleetSilent", "AgentSilent"}
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


def enrich(change: AlarmChange, logs: Logs) -> Enrichment:
    """Look the alarm up; for one that is over only the query is named."""
    if change.state is not State.ALARM:
        return _looked_up(change, logs)
    changed = logs.meanwhile(CHANGES_BUDGET, lambda: logs.changes.before(change.changed_at))
    return replace(_looked_up(change, logs), changes=changed())


def _looked_up(change: AlarmChange, logs: Logs) -> Enrichment:
    split = naming.split_alarm_name(change.name)
    if split is None or '"' in split[1] or "\\" in split[1]:
        problem = f"alarm {change.name} names no fleet" if change.state is State.ALARM else None
        return Enrichment(problem=problem)
    _, fleet, key = split
    if key in PLATFORM_KEYS:
        return Enrichment()
    if key in CAPACITY_KEYS:
        start = Enrichment(_query(fleet, ' and kind = "capacity"', CAPACITY_EVENTS), about_capacity=True)
        return _looked(start, change, logs.within, lambda: replace(start, capacity=_capacity(start, key, change, logs)))
    start = Enrichment(node_states.query(fleet) if fleet in logs.large_fleets else _query(fleet, "", NODE_EVENTS))
    return _looked(start, change, logs.within, lambda: replace(start, evidence=_evidence(start, key, change, logs)))


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


def _evidence(of: Enrichment, key: str, change: AlarmChange, logs: Logs) -> Evidence:
    span = LONG_WINDOW if key in LONG_KEYS else WINDOW
    window = (change.changed_at - span, change.changed_at)
    fleet = change.name.split("/")[1]
    is_large = fleet in logs.large_fleets
    events = (logs.states if is_large else logs.nodes).read(of.query or "", *window)
    if key == worthless.KEY:
        events = worthless.of_lost_jobs(events, _reports(fleet, logs, *window) if is_large else ())
    if key == idle.KEY:
        events = idle.of_idle_jobs(events)
    # These two are about some nodes' dollars, and the mean is of all.
    mean_waste = logs.waste.per_node(fleet, *window) if is_large and key not in {worthless.KEY, idle.KEY} else {}
    found = evidence.collect(events, key, change.changed_at, mean_waste)
    if is_large and key == idle.KEY:
        # The rows of a large fleet hold what is wasted now, and not since when.
        found = replace(found, began=None, usd_since=None)
    if not found.nodes:
        raise EnrichmentError(f"no node wrote an event in the last {_minutes(span)} minutes")
    return found


def _reports(fleet: str, logs: Logs, start: datetime, end: datetime) -> list[NodeEvent]:
    try:
        return logs.nodes.read(worthless.reports_query(fleet), start, end)
    except EnrichmentError:
        # The nodes are known all the same.
        return []


def _capacity(of: Enrichment, key: str, change: AlarmChange, logs: Logs) -> Capacity:
    events = logs.capacity.read(of.query or "", change.changed_at - LONG_WINDOW, change.changed_at)
    found = capacity.collect(events, key)
    if found is None:
        raise EnrichmentError(
            f"the capacity watch wrote nothing of the fleet in the last {_minutes(LONG_WINDOW)} minutes"
        )
    return found


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds()) // 60
