"""Where a page leads: the runbook, the dashboard at the time of the incident, and the query behind the numbers."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from fleet import naming
from fleet.alarm_page import AlarmPage
from lambdas.pager.model import AlarmChange
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
