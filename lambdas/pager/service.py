"""From one alarm transition to delivered messages. No AWS in here: what touches the world is passed in."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

from fleet import naming
from lambdas.pager import evidence, pagerduty, slack
from lambdas.pager.errors import DeliveryError, EnrichmentError, IncidentStoreError, SecretError
from lambdas.pager.evidence import Evidence
from lambdas.pager.incident import Incident, Remembered, incident_of
from lambdas.pager.links import links
from lambdas.pager.model import AlarmChange, NodeEvent, Notice, Severity, State
from lambdas.pager.page import Page
from lambdas.pager.settings import Settings

WINDOW: Final = timedelta(minutes=20)
# 100 nodes for the whole window; in a larger fleet the oldest minutes are cut off, and the newest matter most.
EVENT_LIMIT: Final = 2000
PAGERDUTY: Final = "pagerduty"
SLACK: Final = "slack"


class Events(Protocol):
    """The node events."""

    def read(self, query: str, start: datetime, end: datetime) -> list[NodeEvent]:
        """The events of the time range, or EnrichmentError."""


class Incidents(Protocol):
    """The memory of incidents."""

    def last(self, alarm_arn: str) -> Remembered | None:
        """What is remembered of an alarm, or IncidentStoreError."""

    def remember(self, change: AlarmChange, opened_at: datetime | None) -> bool:
        """Keep a transition; False when a newer one is known, or IncidentStoreError."""


@dataclass(frozen=True, slots=True)
class World:
    """What the service acts on."""

    events: Events
    incidents: Incidents
    secret: Callable[[str], str]
    post: Callable[[str, Mapping[str, object]], None]
    once: Callable[[str, Callable[[], None]], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one page. ``failed`` maps a destination to the reason."""

    page: Page | None
    sent: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    failed: Mapping[str, str] | None = None


def handle(change: AlarmChange, severity: Severity, settings: Settings, world: World) -> Outcome:
    """Make the page of ``change`` and deliver it to every destination that it is for."""
    if change.state is State.INSUFFICIENT_DATA:
        return Outcome(page=None)
    incident = _incident(change, world.incidents)
    page = _page(change, severity, incident, settings, world.events)
    deliveries = {
        destination: (_key(change, destination), partial(_deliver, destination, page, settings, world))
        for destination in destinations(page)
    }
    return _delivered(page, deliveries, world)


def tell(notice: Notice, settings: Settings, world: World) -> Outcome:
    """Deliver a notice, once by its key; nobody is woken up for one."""
    send = partial(_send_to_slack, {**slack.notice_message(notice)}, settings, world)
    return _delivered(None, {SLACK: (f"notice|{notice.key}", send)}, world)


def _delivered(page: Page | None, deliveries: Mapping[str, tuple[str, Callable[[], None]]], world: World) -> Outcome:
    sent: list[str] = []
    repeated: list[str] = []
    failed: dict[str, str] = {}
    for destination, (key, send) in deliveries.items():
        try:
            ran = world.once(key, send)
        except (DeliveryError, SecretError) as error:
            failed[destination] = str(error)
            continue
        except Exception as error:
            failed[destination] = type(error).__name__
            continue
        (sent if ran else repeated).append(destination)
    return Outcome(page, tuple(sent), tuple(repeated), failed)


def destinations(page: Page) -> tuple[str, ...]:
    """Who hears of it: pages go to PagerDuty and Slack, tickets to Slack.

    A late alarm that is over opens nothing in PagerDuty, because nothing would close it. A recovery from missing data
    that no alarm preceded, such as a new alarm's first OK, is no news; when in doubt PagerDuty resolves, which it
    ignores without an incident.
    """
    is_news = not page.is_resolved or page.incident.opened_at is not None or page.change.old_state is State.ALARM
    wakes = page.severity is Severity.PAGE and not page.incident.is_over and (is_news or not page.incident.is_certain)
    return ((PAGERDUTY,) if wakes else ()) + ((SLACK,) if is_news else ())


def _key(change: AlarmChange, destination: str) -> str:
    return f"{change.arn}|{change.changed_at_text}|{change.state}|{destination}"


def _incident(change: AlarmChange, incidents: Incidents) -> Incident:
    try:
        incident = incident_of(change, incidents.last(change.arn))
        if not incident.is_over and not incidents.remember(change, incident.opened_at):
            # Another invocation wrote a newer transition between the two calls: look again.
            incident = incident_of(change, incidents.last(change.arn))
    except IncidentStoreError:
        return Incident(change.changed_at if change.state is State.ALARM else None, is_certain=False)
    return incident


def _page(change: AlarmChange, severity: Severity, incident: Incident, settings: Settings, events: Events) -> Page:
    query = _query(change)
    found: Evidence | None = None
    problem: str | None = None
    if change.state is State.ALARM:
        try:
            found = _evidence(change, query, events)
        except EnrichmentError as error:
            problem = str(error)
        except Exception as error:
            problem = f"the node events could not be understood ({type(error).__name__})"
    where = links(settings, change, query)
    return Page(settings.environment, change, severity, incident, where, found, problem)


def _query(change: AlarmChange) -> str | None:
    split = naming.split_alarm_name(change.name)
    if split is None or '"' in split[1] or "\\" in split[1]:
        return None
    return f'fields @timestamp, @message | filter fleet = "{split[1]}" | sort @timestamp desc | limit {EVENT_LIMIT}'


def _evidence(change: AlarmChange, query: str | None, events: Events) -> Evidence:
    split = naming.split_alarm_name(change.name)
    if query is None or split is None:
        raise EnrichmentError(f"alarm {change.name} names no fleet")
    found = evidence.collect(
        events.read(query, change.changed_at - WINDOW, change.changed_at), split[2], change.changed_at
    )
    if not found.nodes:
        raise EnrichmentError(f"no node wrote an event in the last {int(WINDOW.total_seconds()) // 60} minutes")
    return found


def _deliver(destination: str, page: Page, settings: Settings, world: World) -> None:
    if destination == SLACK:
        _send_to_slack({**slack.message(page)}, settings, world)
        return
    routing_key, url = _routing(world.secret(settings.pagerduty_secret), settings.pagerduty_secret)
    world.post(url, pagerduty.event(page, routing_key))


def _send_to_slack(message: Mapping[str, object], settings: Settings, world: World) -> None:
    world.post(world.secret(settings.slack_secret).strip(), message)


def _routing(text: str, name: str) -> tuple[str, str]:
    try:
        fields = json.loads(text)
        return str(fields["routing_key"]), str(fields.get("events_url") or pagerduty.EVENTS_URL)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The cause would quote the secret.
        raise SecretError(f'secret {name} is not JSON of the form {{"routing_key": "…"}}') from None
