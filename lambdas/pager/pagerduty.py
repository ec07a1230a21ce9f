"""A page as a PagerDuty Events API v2 event.

The deduplication key is the alarm's ARN: PagerDuty folds triggers into the open incident, and opens a new one for the
first trigger after a resolve, so ALARM → OK → ALARM is two incidents and nothing has to be remembered for it.
"""

from typing import Final

from lambdas.pager import capacity
from lambdas.pager import page as wording
from lambdas.pager.model import Severity
from lambdas.pager.page import Page

SUMMARY_LIMIT: Final = 1024
DEDUP_LIMIT: Final = 255
EVENTS_URL: Final = "https://events.pagerduty.com/v2/enqueue"
SEVERITIES: Final = {Severity.PAGE: "critical", Severity.TICKET: "warning"}

Event = dict[str, object]


def event(page: Page, routing_key: str) -> Event:
    """The trigger or resolve event of ``page``."""
    base: Event = {"routing_key": routing_key, "dedup_key": page.change.arn[-DEDUP_LIMIT:]}
    payload: Event = {
        "summary": wording.title(page)[:SUMMARY_LIMIT],
        "source": page.subject,
        "severity": SEVERITIES[page.severity],
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
            "component": page.subject,
            "group": page.environment,
            "class": page.what,
            "custom_details": _details(page),
        },
    }


def _links(page: Page) -> list[dict[str, str]]:
    named = [("Runbook", page.links.runbook), ("Log query", page.links.log_query)]
    return [{"href": url, "text": name} for name, url in named if url and "://" in url]


def _details(page: Page) -> dict[str, object]:
    details: dict[str, object | None] = {
        "what": wording.summary(page),
        **{name.lower(): text for name, text in capacity.facts(page.capacity).items()},
        "reservations": capacity.reservations(page.capacity) or None,
        "job": wording.jobs(page),
        "money": wording.money(page),
        "nodes": list(wording.node_lines(page)) or None,
        "numbers": wording.numbers(page),
        "do_first": wording.action(page),
        "runbook": page.links.runbook,
        "missing": page.enrichment_problem,
    }
    return {name: detail for name, detail in details.items() if detail is not None}
