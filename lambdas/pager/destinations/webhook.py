"""A page as one JSON object for a machine of your own, signed so that it can tell ours from anybody's.

The header ``X-Neuron-Fleet-Signature`` is ``t=UNIX,v1=HEX``: HMAC-SHA256, by the key of the secret, over ``UNIX.BODY``
with the body's bytes as they came. A receiver compares in constant time, and refuses a ``t`` of more than five minutes
ago, for it may be a recording.
"""

import hashlib
import hmac
from typing import Final

from lambdas.pager import page_text
from lambdas.pager.destinations.pagerduty import details
from lambdas.pager.page import Page, milliseconds

HEADER: Final = "X-Neuron-Fleet-Signature"
VERSION: Final = 1


def body(page: Page) -> dict[str, object]:
    """The object: ``event`` is trigger or resolve, ``incident`` the same text in both, and one for each incident.

    ``title`` and ``details`` are for people. ``incident``, ``alarm`` and ``environment`` are data, as AWS wrote them.
    """
    told: dict[str, object] = {
        "version": VERSION,
        "event": "resolve" if page.is_resolved else "trigger",
        "incident": page.dedup_key,
        "test": page.is_test,
        "title": page_text.title(page),
        "severity": page.severity.value,
        "environment": page.environment,
        "alarm": page.change.name,
        "changed_at": milliseconds(page.change.changed_at),
        "already_over": page.incident.is_over and not page.is_resolved,
    }
    if page.is_resolved:
        return told
    links = {"runbook": page.links.runbook, "dashboard": page.links.dashboard, "log_query": page.links.log_query}
    return {**told, "since": milliseconds(page.since), "details": details(page), "links": links}


def signature(key: str, now: float, sent: bytes) -> dict[str, str]:
    """The header over the bytes that are sent at ``now`` (unix seconds)."""
    moment = str(int(now))
    digest = hmac.new(key.encode(), f"{moment}.".encode() + sent, hashlib.sha256).hexdigest()
    return {HEADER: f"t={moment},v1={digest}"}
