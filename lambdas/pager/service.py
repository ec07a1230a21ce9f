"""From one alarm transition to delivered messages. No AWS in here: what touches the world is passed in.

Each destination hears of an incident once when it begins and once when it is over, in this order, whatever becomes of
the messages on their way. An OK is told where the ALARM was told. Where the ALARM was not, because it is late or the
destination is down, the OK is only remembered: the ALARM, when it is told at last, is followed by the OK at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from fleet.paging import STAYS_OPEN
from lambdas.pager.delivery_idempotency import Once
from lambdas.pager.destinations.sending import Senders, send, send_notice
from lambdas.pager.enrichment import Enrichment, Sources, enrich
from lambdas.pager.errors import DeliveryError, IncidentStoreError, SecretError
from lambdas.pager.incidents import Incident, IncidentTable, incident_of
from lambdas.pager.messages import AlarmChange, Notice, Severity, State
from lambdas.pager.page import Page, links
from lambdas.pager.settings import Settings

# So long an OK waits for its own ALARM; then whatever it may have opened is closed unseen.
LATE: Final = timedelta(minutes=15)
# So long the whole of an alarm waits for the messages of its contributors; then it is told itself.
CONTRIBUTORS_LATE: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service acts on; ``now`` is unix seconds."""

    settings: Settings
    sources: Sources
    incidents: IncidentTable
    senders: Senders
    once: Once
    now: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one transition. ``failed`` maps a destination to the reason; ``waits`` says for what."""

    page: Page | None
    sent: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    waits: str | None = None

    def then(self, later: "Outcome") -> "Outcome":
        """Both, as one."""
        return Outcome(
            self.page,
            (*self.sent, *later.sent),
            (*self.repeated, *later.repeated),
            {**self.failed, **later.failed},
            self.waits,
        )


def handle(change: AlarmChange, severity: Severity, dependencies: Dependencies) -> Outcome:
    """Deliver the page of ``change`` to every destination that it is for."""
    if change.state is State.INSUFFICIENT_DATA:
        return Outcome(page=None)
    if dependencies.settings.alarm(change).contributor and not change.contributor:
        held_back = _told_by_its_contributors(change, dependencies)
        if held_back is not None:
            return held_back
    incident = _incident(change, dependencies.incidents)
    if change.state is State.OK:
        return _over(change, severity, incident, dependencies)
    page = _page(
        change,
        severity,
        incident,
        enrich(dependencies.settings.alarm(change), change, dependencies.sources),
        dependencies,
    )
    names = dependencies.settings.directory.chosen(severity, page.owners)
    outcome = _delivered(page, [(name, *_telling(page, name, dependencies)) for name in names], dependencies)
    # Only now: an OK that was handled meanwhile did not see that this page was told.
    incident = _incident(change, dependencies.incidents)
    if not incident.is_certain or incident.ended_at is None:
        return outcome
    end = change.model_copy(update={"state": State.OK, "old_state": State.ALARM, "changed_at": incident.ended_at})
    return outcome.then(_resolved(end, severity, incident, dependencies))


def _told_by_its_contributors(change: AlarmChange, dependencies: Dependencies) -> Outcome | None:
    """What becomes of a transition of a whole alarm whose contributors are told by themselves; None: it is told."""
    try:
        heard = dependencies.incidents.contributor_heard(change, LATE)
    except IncidentStoreError:
        return None
    if heard:
        return Outcome(page=None)
    if datetime.fromtimestamp(dependencies.now(), UTC) - change.changed_at < CONTRIBUTORS_LATE:
        return Outcome(page=None, waits="its contributors have not come yet")
    return None


def tell(notice: Notice, dependencies: Dependencies) -> Outcome:
    """Deliver a notice, once by its key, where tickets go; nobody is woken up for one."""
    directory = dependencies.settings.directory
    names = [
        name for name in directory.chosen(Severity.TICKET, ()) if directory.destinations[name].kind not in STAYS_OPEN
    ]
    jobs = [
        (
            name,
            f"notice|{notice.key}|{name}",
            partial(send_notice, directory.destinations[name], notice, dependencies.senders),
        )
        for name in names
    ]
    return _delivered(None, jobs, dependencies)


def _over(change: AlarmChange, severity: Severity, incident: Incident, dependencies: Dependencies) -> Outcome:
    if incident.alarms:
        if not incident.is_over:
            # Another contributor of the same incident is still in ALARM.
            return Outcome(page=None)
        last = change.model_copy(update={"changed_at": incident.ended_at or change.changed_at})
        return _resolved(last, severity, incident, dependencies)
    if incident.is_certain:
        if change.old_state is not State.ALARM:
            # A recovery from missing data, such as a new alarm's first OK, is no news.
            return Outcome(page=None)
        if datetime.fromtimestamp(dependencies.now(), UTC) - change.changed_at < LATE:
            return Outcome(page=None, waits="its alarm has not come yet")
    page = _page(change, severity, incident, Enrichment(), dependencies)
    names = _in_doubt(change, severity, dependencies)
    return _delivered(page, [(name, *_telling(page, name, dependencies)) for name in names], dependencies)


def _in_doubt(change: AlarmChange, severity: Severity, dependencies: Dependencies) -> Iterator[str]:
    """Who may have heard of an alarm that is not remembered: a resolve is ignored where nothing is open."""
    directory = dependencies.settings.directory
    for name in directory.possible(severity):
        if directory.destinations[name].kind in STAYS_OPEN or change.old_state is State.ALARM:
            yield name


def _resolved(change: AlarmChange, severity: Severity, incident: Incident, dependencies: Dependencies) -> Outcome:
    jobs = []
    for name in dependencies.settings.directory.destinations:
        told = next((at for at in incident.alarms if _is_done(_key(change, at, State.ALARM, name), dependencies)), None)
        if told is not None:
            page = _page(change, severity, incident, Enrichment(), dependencies, known_since=told)
            jobs.append((name, *_telling(page, name, dependencies)))
    return _delivered(_page(change, severity, incident, Enrichment(), dependencies), jobs, dependencies)


def _telling(page: Page, name: str, dependencies: Dependencies) -> tuple[str, Callable[[], None]]:
    """The key under which ``page`` is told to a destination, and the telling itself."""
    effect = partial(send, dependencies.settings.directory.destinations[name], page, dependencies.senders)
    change = page.change
    if not page.incident.is_certain:
        return _key(change, change.changed_at, change.state, name), effect
    # Under whichever of its ALARMs the incident was told of, it was told of.
    for at in page.incident.alarms:
        if _is_done(key := _key(change, at, change.state, name), dependencies):
            return key, effect
    return _key(change, page.known_since or change.changed_at, change.state, name), effect


def _is_done(key: str, dependencies: Dependencies) -> bool:
    try:
        return dependencies.once.is_done(key)
    except IncidentStoreError:
        return False


def _delivered(
    page: Page | None, jobs: Iterable[tuple[str, str, Callable[[], None]]], dependencies: Dependencies
) -> Outcome:
    sent: list[str] = []
    repeated: list[str] = []
    failed: dict[str, str] = {}
    for destination, key, effect in jobs:
        try:
            ran = dependencies.once.run(key, effect)
        except (DeliveryError, SecretError) as error:
            failed[destination] = str(error)
            continue
        except Exception as error:
            failed[destination] = type(error).__name__
            continue
        (sent if ran else repeated).append(destination)
    return Outcome(page, tuple(sent), tuple(repeated), failed)


def _key(change: AlarmChange, at: datetime, state: State, destination: str) -> str:
    return f"{change.identity}|{at.astimezone(UTC).isoformat(timespec='milliseconds')}|{state}|{destination}"


def _incident(change: AlarmChange, incidents: IncidentTable) -> Incident:
    try:
        return incident_of(change, incidents.record(change))
    except IncidentStoreError:
        return Incident((change.changed_at,) if change.state is State.ALARM else (), is_certain=False)


def _page(
    change: AlarmChange,
    severity: Severity,
    incident: Incident,
    found: Enrichment,
    dependencies: Dependencies,
    known_since: datetime | None = None,
) -> Page:
    alarm = dependencies.settings.alarm(change)
    return Page(
        environment=dependencies.settings.environment,
        alarm=alarm,
        change=change,
        severity=severity,
        incident=incident,
        links=links(dependencies.settings, alarm, change, found.query, about_capacity=found.about_capacity),
        known_since=known_since or (incident.opened_at if incident.is_certain else None),
        evidence=found.evidence,
        capacity=found.capacity,
        changes=found.changes,
        enrichment_problem=found.problem,
    )
