"""From one alarm transition to delivered messages. No AWS in here: what touches the world is passed in."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from lambdas.pager import pagerduty, slack
from lambdas.pager.enrichment import Logs, enrich
from lambdas.pager.errors import DeliveryError, IncidentStoreError, SecretError
from lambdas.pager.incident import Incident, Remembered, incident_of
from lambdas.pager.links import links
from lambdas.pager.model import AlarmChange, Notice, Severity, State
from lambdas.pager.page import Page
from lambdas.pager.settings import Settings

PAGERDUTY: Final = "pagerduty"
SLACK: Final = "slack"


class Incidents(Protocol):
    """The memory of incidents."""

    def last(self, alarm_arn: str) -> Remembered | None:
        """What is remembered of an alarm, or IncidentStoreError."""

    def remember(self, change: AlarmChange, opened_at: datetime | None) -> bool:
        """Keep a transition; False when a newer one is known, or IncidentStoreError."""


@dataclass(frozen=True, slots=True)
class World:
    """What the service acts on."""

    logs: Logs
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
    page = _page(change, severity, incident, settings, world.logs)
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


def _page(change: AlarmChange, severity: Severity, incident: Incident, settings: Settings, logs: Logs) -> Page:
    found = enrich(change, logs)
    return Page(
        environment=settings.environment,
        change=change,
        severity=severity,
        incident=incident,
        links=links(settings, change, found.query, about_capacity=found.about_capacity),
        evidence=found.evidence,
        capacity=found.capacity,
        enrichment_problem=found.problem,
    )


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
