"""A page or a notice in the shape of a destination, and off to it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from fleet.paging import Destination, Kind
from lambdas.pager.destinations import mail, pagerduty, slack, webhook
from lambdas.pager.errors import SecretError
from lambdas.pager.model import Notice
from lambdas.pager.page_text import Page

Sign = Callable[[bytes], Mapping[str, str]]


class Post(Protocol):
    """HTTP POST of a JSON body, or DeliveryError; ``sign`` gives further headers for the bytes that are sent."""

    def __call__(self, url: str, body: Mapping[str, object], sign: Sign | None = None, /) -> None:
        """Post it."""


@dataclass(frozen=True, slots=True)
class Senders:
    """What reaches the world: secrets by name, HTTP, and (topic, subject, text) to the people behind a topic.

    ``now`` is unix seconds.
    """

    secret: Callable[[str], str]
    post: Post
    mail: Callable[[str, str, str], None]
    now: Callable[[], float]


def send(destination: Destination, page: Page, senders: Senders) -> None:
    """Tell ``destination`` of ``page``.

    Raises:
        SecretError: the destination's secret is missing or malformed.
        DeliveryError: it was not taken.
    """
    match destination.kind:
        case Kind.SLACK:
            senders.post(senders.secret(destination.address).strip(), {**slack.message(page)})
        case Kind.PAGERDUTY:
            fields = _fields(senders, destination, "routing_key")
            url = fields.get("events_url") or pagerduty.EVENTS_URL
            senders.post(url, pagerduty.event(page, fields["routing_key"]))
        case Kind.WEBHOOK:
            fields = _fields(senders, destination, "url", "key")
            senders.post(fields["url"], webhook.body(page), partial(webhook.signature, fields["key"], senders.now()))
        case Kind.EMAIL:
            senders.mail(destination.address, mail.subject(page), mail.text(page))


def send_notice(destination: Destination, notice: Notice, senders: Senders) -> None:
    """Tell ``destination`` of a notice; raises as ``send`` does."""
    if destination.kind is Kind.EMAIL:
        senders.mail(destination.address, mail.plain_subject(notice.subject), notice.body)
        return
    senders.post(senders.secret(destination.address).strip(), {**slack.notice_message(notice)})


def _fields(senders: Senders, destination: Destination, *needed: str) -> dict[str, str]:
    name = destination.address
    try:
        written = json.loads(senders.secret(name))
        fields = {str(key): str(value) for key, value in written.items() if value}
    except (ValueError, AttributeError):
        # The cause would quote the secret.
        fields = {}
    if not all(key in fields for key in needed):
        form = ", ".join(f'"{key}": "…"' for key in needed)
        raise SecretError(f"secret {name} is not JSON of the form {{{form}}}")
    return fields
