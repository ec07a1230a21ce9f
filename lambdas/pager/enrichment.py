"""Which log tells more about an alarm, the query to it, and what came back. Nothing here keeps a page back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from fleet import naming
from fleet.alarms.capacity import KEYS as CAPACITY_KEYS
from fleet.alarms.operations import KEYS as OPERATIONS_KEYS
from fleet.alarms.precompile import KEYS as PRECOMPILE_KEYS
from lambdas.pager import capacity, evidence
from lambdas.pager.capacity import Capacity
from lambdas.pager.errors import EnrichmentError
from lambdas.pager.evidence import Evidence
from lambdas.pager.model import AlarmChange, CapacityEvent, NodeEvent, State

Event = TypeVar("Event")

WINDOW: Final = timedelta(minutes=20)
# These are raised when something has lasted for a quarter or half an hour, and its beginning is to be seen.
LONG_WINDOW: Final = timedelta(minutes=45)
PLATFORM_KEYS: Final = OPERATIONS_KEYS | PRECOMPILE_KEYS
LONG_KEYS: Final = CAPACITY_KEYS | {"FleetSilent"}
# 100 nodes for 20 minutes; in a larger fleet the oldest minutes are cut off, and the newest matter most.
NODE_EVENTS: Final = 2000
# One a minute, and one more for each event that makes the watch look.
CAPACITY_EVENTS: Final = 200


class Events(Protocol[Event]):
    """The events of one log group."""

    def read(self, query: str, start: datetime, end: datetime) -> list[Event]:
        """The events of the time range, or EnrichmentError."""


@dataclass(frozen=True, slots=True)
class Logs:
    """Where to look: what agents write, and what the capacity watch writes."""

    nodes: Events[NodeEvent]
    capacity: Events[CapacityEvent]


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


def enrich(change: AlarmChange, logs: Logs) -> Enrichment:
    """Look the alarm up; for one that is over only the query is named."""
    split = naming.split_alarm_name(change.name)
    if split is None or '"' in split[1] or "\\" in split[1]:
        problem = f"alarm {change.name} names no fleet" if change.state is State.ALARM else None
        return Enrichment(problem=problem)
    _, fleet, key = split
    if key in PLATFORM_KEYS:
        return Enrichment()
    if key in CAPACITY_KEYS:
        start = Enrichment(_query(fleet, ' and kind = "capacity"', CAPACITY_EVENTS), about_capacity=True)
        return _looked(start, change, lambda: replace(start, capacity=_capacity(start, key, change, logs)))
    start = Enrichment(_query(fleet, "", NODE_EVENTS))
    return _looked(start, change, lambda: replace(start, evidence=_evidence(start, key, change, logs)))


def _looked(start: Enrichment, change: AlarmChange, look: Callable[[], Enrichment]) -> Enrichment:
    if change.state is not State.ALARM:
        return start
    try:
        return look()
    except EnrichmentError as error:
        return replace(start, problem=str(error))
    except Exception as error:
        return replace(start, problem=f"the events could not be understood ({type(error).__name__})")


def _query(fleet: str, condition: str, limit: int) -> str:
    return f'fields @timestamp, @message | filter fleet = "{fleet}"{condition} | sort @timestamp desc | limit {limit}'


def _evidence(of: Enrichment, key: str, change: AlarmChange, logs: Logs) -> Evidence:
    span = LONG_WINDOW if key in LONG_KEYS else WINDOW
    events = logs.nodes.read(of.query or "", change.changed_at - span, change.changed_at)
    found = evidence.collect(events, key, change.changed_at)
    if not found.nodes:
        raise EnrichmentError(f"no node wrote an event in the last {_minutes(span)} minutes")
    return found


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
