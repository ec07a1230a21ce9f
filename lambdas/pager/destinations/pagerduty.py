"""A page as a PagerDuty Events API v2 event.

The deduplication key names the incident: the alarm's ARN and the moment of the ALARM. PagerDuty folds a repeated
trigger into the open incident and leaves it acknowledged, and a trigger that comes late for one incident touches no
other. Where nothing could be remembered it is the ARN alone.
"""

from typing import Final

from lambdas.pager import capacity, metric_queries, page_text
from lambdas.pager.messages import Severity
from lambdas.pager.page import Page

SUMMARY_LIMIT: Final = 1024
DEDUP_LIMIT: Final = 255
EVENTS_URL: Final = "https://events.pagerduty.com/v2/enqueue"
SEVERITIES: Final = {Severity.PAGE: "critical", Severity.TICKET: "warning"}

Event = dict[str, object]


def event(page: Page, routing_key: str) -> Event:
    """The trigger or resolve event of ``page``."""
    base: Event = {"routing_key": routing_key, "dedup_key": page.dedup_key[-DEDUP_LIMIT:]}
    payload: Event = {
        "summary": page_text.title(page)[:SUMMARY_LIMIT],
        "source": page_text.subject(page),
        # An incident that is over is on record there, and nobody needs to get up for it.
        "severity": "info" if page.incident.is_over and not page.is_resolved else SEVERITIES[page.severity],
        "timestamp": page.change.changed_at_text,
    }
    if page.is_resolved:
        # PagerDuty needs no payload to resolve; whoever reads the event does.
        return {**base, "event_action": "resolve", "payload": payload}
    return {
        **base,
        "event_action": "trigger",
        "client": "Neuron Fleet",
        "client_url": page.links.dashboard,
        "links": _links(page),
        "payload": {
            **payload,
            "component": page_text.subject(page),
            "group": page.environment,
            "class": page_text.what(page),
            "custom_details": details(page),
        },
    }


def _links(page: Page) -> list[dict[str, str]]:
    named = [("Runbook", page.links.runbook), ("Log query", page.links.log_query)]
    return [{"href": url, "text": name} for name, url in named if url and "://" in url]


def details(page: Page) -> dict[str, object]:
    """What is known of a page, by name; what is not known is left out."""
    known: dict[str, object | None] = {
        "what": page_text.summary(page),
        **{name.lower(): text for name, text in capacity.facts(page.capacity).items()},
        "reservations": capacity.reservations(page.capacity) or None,
        "job": page_text.jobs(page),
        "money": page_text.money(page),
        "changes": metric_queries.wording(page.changes, page.change.changed_at),
        "nodes": list(page_text.node_lines(page)) or None,
        "numbers": page_text.numbers(page),
        "do_first": page_text.action(page),
        "first_command": page_text.first_command(page),
        "runbook": page.links.runbook,
        "missing": page_text.missing(page) or None,
    }
    return {name: detail for name, detail in known.items() if detail is not None}
