"""The page as data: one transition with all that is known of it, and where it leads. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from fleet import naming
from fleet.alarm_page import AlarmPage
from lambdas.pager.capacity import Capacity
from lambdas.pager.evidence import Evidence
from lambdas.pager.incidents import Incident
from lambdas.pager.messages import AlarmChange, Severity, State
from lambdas.pager.metric_queries import EnvironmentChange
from lambdas.pager.settings import Settings

BEFORE: Final = timedelta(hours=1)
AFTER: Final = timedelta(minutes=15)
DASHBOARD: Final = "operator"
CAPACITY_DASHBOARD: Final = "capacity-and-cost"


@dataclass(frozen=True, slots=True)
class Links:
    """URLs; ``log_query`` is None when there is no log to look into."""

    runbook: str
    dashboard: str
    log_query: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """One transition, ready to be told.

    At most one of ``evidence`` (of nodes) and ``capacity`` is there; ``enrichment_problem`` says why one is missing.
    ``known_since`` is the ALARM under which destinations know the incident; None when nothing could be remembered.
    """

    environment: str
    alarm: AlarmPage
    change: AlarmChange
    severity: Severity
    incident: Incident
    links: Links
    known_since: datetime | None = None
    evidence: Evidence | None = None
    capacity: Capacity | None = None
    changes: tuple[EnvironmentChange, ...] | None = None
    enrichment_problem: str | None = None

    @property
    def is_resolved(self) -> bool:
        """Whether this is the good news."""
        return self.change.state is State.OK

    @property
    def since(self) -> datetime:
        """When it began: by the events, else when the incident was opened, else the transition."""
        told = self.evidence or self.capacity
        if told and told.began and not self.is_resolved:
            return told.began
        return self.incident.opened_at or self.change.changed_at

    @property
    def is_test(self) -> bool:
        """Whether somebody only wants to see that pages arrive."""
        return is_test(self.change)

    @property
    def owners(self) -> tuple[str, ...]:
        """Whose work is the cause, as far as the events say."""
        if self.capacity and self.capacity.newest.owner:
            return (self.capacity.newest.owner,)
        return self.evidence.owners if self.evidence else ()

    @property
    def dedup_key(self) -> str:
        """The incident's name at a destination: what opens it, closes it, and is folded into it has the same."""
        identity = self.change.identity
        return identity if self.known_since is None else f"{identity}#{milliseconds(self.known_since)}"

    @property
    def what(self) -> str:
        """What is wrong, in a few words: ``Low utilization``."""
        return self.alarm.title

    @property
    def subject(self) -> str:
        """``prod/trn1-pretrain``, or the environment and the alarm's own name."""
        split = naming.split_alarm_name(self.change.name)
        return f"{split[0]}/{split[1]}" if split else self.environment


def links(
    settings: Settings, alarm: AlarmPage, change: AlarmChange, query: str | None, *, about_capacity: bool = False
) -> Links:
    """The links of a page, over the hour before the transition and the minutes after it."""
    log_group = settings.capacity_log_group if about_capacity else settings.node_log_group
    start, end = change.changed_at - BEFORE, change.changed_at + AFTER
    split = naming.split_alarm_name(change.name)
    subject = split[1] if split else None
    if about_capacity:
        audience = CAPACITY_DASHBOARD
    elif subject in settings.endpoint_dashboards:
        audience = naming.endpoint_audience(subject)
    else:
        audience = DASHBOARD
    console = f"https://{change.region}.console.aws.amazon.com/cloudwatch/home?region={change.region}"
    dashboard = naming.dashboard_name(settings.environment, audience)
    return Links(
        runbook=f"{settings.runbooks_url.rstrip('/')}/{alarm.runbook}",
        dashboard=f"{console}#dashboards:name={dashboard};start={_iso(start)};end={_iso(end)}",
        log_query=None if query is None else f"{console}#{_insights(log_group, query, start, end)}",
    )


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _insights(log_group: str, query: str, start: datetime, end: datetime) -> str:
    """The console's own notation: a value is percent-encoded with ``*`` for ``%``, a text begins with ``'``."""
    detail = (
        f"~(end~'{_star(_iso(end))}~start~'{_star(_iso(start))}~timeType~'ABSOLUTE~tz~'UTC"
        f"~editorString~'{_star(query)}~source~(~'{_star(log_group)}))"
    )
    return f"logsV2:logs-insights$3FqueryDetail$3D{detail}"


def _star(text: str) -> str:
    return quote(text, safe="-_.").replace("%", "*")


def milliseconds(moment: datetime) -> str:
    """``2026-11-21T03:41:12.900Z``: texts sort as times do."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_test(change: AlarmChange) -> bool:
    """Whether the alarm is the one of `fleet page test`."""
    split = naming.split_alarm_name(change.name)
    return split is not None and split[1:] == (naming.PLATFORM, naming.PAGE_TEST)
