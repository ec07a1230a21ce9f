"""Which log tells more about an alarm, the query to it, and what came back. Nothing here keeps a page back.

All of it together has ``BUDGET`` seconds: whatever is slow, be it a name server, is left behind and the bare page goes.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from fleet import naming
from fleet.alarm_page import AlarmPage, EvidenceKind
from fleet.paging import SMALL_FLEET
from lambdas.pager import capacity, evidence
from lambdas.pager.capacity import Capacity
from lambdas.pager.contributors import node_first, of_its_job
from lambdas.pager.errors import EnrichmentError
from lambdas.pager.evidence import Evidence
from lambdas.pager.job_events import of_crash_loops, of_idle_jobs, of_lost_jobs, reports_query
from lambdas.pager.log_events import CapacityEvent, EventQuery, NodeEvent, states_query
from lambdas.pager.messages import AlarmChange, State
from lambdas.pager.metric_queries import ChangeMetrics, EnvironmentChange, WasteMetric

Found = TypeVar("Found")

BUDGET: Final = 5.0
# Asked beside the logs, so that it costs no time.
CHANGES_BUDGET: Final = 1.5

# Their dollars are those of some jobs, and the mean is of all nodes.
_OF_JOBS: Final = frozenset({EvidenceKind.IDLE_JOBS, EvidenceKind.LOST_JOBS, EvidenceKind.CRASH_LOOPS})
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
    changes: tuple[EnvironmentChange, ...] | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look: what agents write, what the capacity watch writes, and what says that something is changed.

    ``states`` are the first and last events of the states of the nodes of a large fleet, ``waste`` its dollars between.
    """

    nodes: EventQuery[NodeEvent]
    states: EventQuery[NodeEvent]
    capacity: EventQuery[CapacityEvent]
    waste: WasteMetric
    changes: ChangeMetrics
    large_fleets: frozenset[str] = frozenset()


def enrich(alarm: AlarmPage, change: AlarmChange, sources: Sources) -> Enrichment:
    """Look the alarm up; for one that is over only the query is named."""
    if change.state is not State.ALARM:
        return _looked_up(alarm, change, sources)
    changed = meanwhile(CHANGES_BUDGET, lambda: sources.changes.before(change.changed_at))
    return replace(_looked_up(alarm, change, sources), changes=changed())


def _looked_up(alarm: AlarmPage, change: AlarmChange, sources: Sources) -> Enrichment:
    split = naming.split_alarm_name(change.name)
    if split is None or '"' in split[1] or "\\" in split[1]:
        problem = f"alarm {change.name} names no fleet" if change.state is State.ALARM else None
        return Enrichment(problem=problem)
    fleet = split[1]
    if alarm.evidence is EvidenceKind.NONE:
        return Enrichment()
    if alarm.evidence.is_about_capacity:
        start = Enrichment(_query(fleet, ' and kind = "capacity"', CAPACITY_EVENTS), about_capacity=True)
        return _looked(start, change, lambda: replace(start, capacity=_capacity(start, alarm, change, sources)))
    start = Enrichment(states_query(fleet) if fleet in sources.large_fleets else _query(fleet, "", NODE_EVENTS))
    return _looked(start, change, lambda: replace(start, evidence=_evidence(start, alarm, change, sources)))


def _looked(start: Enrichment, change: AlarmChange, look: Callable[[], Enrichment]) -> Enrichment:
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


def _evidence(of: Enrichment, alarm: AlarmPage, change: AlarmChange, sources: Sources) -> Evidence:
    window, kind = _window(alarm, change), alarm.evidence
    fleet = change.name.split("/")[1]
    is_large = fleet in sources.large_fleets
    events = (sources.states if is_large else sources.nodes).read(of.query or "", *window)
    events = of_its_job(events, change.attributes)
    if kind is EvidenceKind.LOST_JOBS:
        events = of_lost_jobs(events, _reports(fleet, sources, *window) if is_large else ())
    if kind is EvidenceKind.IDLE_JOBS:
        events = of_idle_jobs(events)
    if kind is EvidenceKind.CRASH_LOOPS:
        events = of_crash_loops(events)
    mean_waste = sources.waste.per_node(fleet, *window) if is_large and kind not in _OF_JOBS else {}
    found = evidence.collect(events, kind, change.changed_at, mean_waste)
    if is_large and kind in {EvidenceKind.IDLE_JOBS, EvidenceKind.CRASH_LOOPS}:
        # The rows of a large fleet hold what is wasted now, and not since when.
        found = replace(found, began=None, usd_since=None)
    if not found.nodes:
        raise EnrichmentError(f"no node wrote an event in the last {alarm.evidence_minutes} minutes")
    return node_first(found, change.attributes)


def _reports(fleet: str, sources: Sources, start: datetime, end: datetime) -> list[NodeEvent]:
    try:
        return sources.nodes.read(reports_query(fleet), start, end)
    except EnrichmentError:
        # The nodes are known all the same.
        return []


def _capacity(of: Enrichment, alarm: AlarmPage, change: AlarmChange, sources: Sources) -> Capacity:
    events = sources.capacity.read(of.query or "", *_window(alarm, change))
    found = capacity.collect(events, alarm.evidence)
    if found is None:
        raise EnrichmentError(
            f"the capacity watch wrote nothing of the fleet in the last {alarm.evidence_minutes} minutes"
        )
    return found


def within(seconds: float, work: Callable[[], Found]) -> Found:
    """What ``work`` returns or raises. Work that takes longer is left behind and its result forgotten.

    Raises:
        EnrichmentError: it took longer than ``seconds``.
    """
    try:
        return _begun(work).get(timeout=seconds).result()
    except Empty:
        raise EnrichmentError(f"AWS did not answer within {seconds:g} s") from None


def meanwhile(seconds: float, work: Callable[[], Found]) -> Callable[[], Found | None]:
    """Begin ``work`` now; the function that is returned gives what it found.

    It waits until ``seconds`` after the beginning at most, and gives None when the work takes longer or fails.
    """
    ended, until = _begun(work), time.monotonic() + seconds

    def found() -> Found | None:
        try:
            return ended.get(timeout=max(0.0, until - time.monotonic())).result()
        except (Empty, EnrichmentError):
            return None

    return found


def _begun(work: Callable[[], Found]) -> SimpleQueue[Future[Found]]:
    ended: SimpleQueue[Future[Found]] = SimpleQueue()

    def run() -> None:
        future: Future[Found] = Future()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        ended.put(future)

    # Not a pool's thread: Python waits for those at its end, however late they are.
    threading.Thread(target=run, daemon=True).start()
    return ended
