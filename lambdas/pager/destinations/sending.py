"""A page or a notice in the shape of a destination, and off to it: over HTTP, or as mail over SNS.

HTTP has short timeouts and few attempts, and no URL stands in any message, for many are secrets.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from fleet.paging import Destination, Kind
from lambdas.pager.destinations import mail, pagerduty, slack, webhook
from lambdas.pager.errors import DeliveryError, SecretError, reason
from lambdas.pager.messages import Notice
from lambdas.pager.page import Page

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sns import SNSClient

Sign = Callable[[bytes], Mapping[str, str]]
ATTEMPTS: Final = 3
TIMEOUT: Final = urllib3.Timeout(connect=2.0, read=5.0)
BACKOFF_SECONDS: Final = (0.5, 1.5)
TRY_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Secrets:
    """Secret values by name, read for each page, so that a rotated secret is used at once."""

    def __init__(self, secretsmanager: "SecretsManagerClient") -> None:
        self._client = secretsmanager

    def read(self, name: str) -> str:
        """The secret's text.

        Raises:
            SecretError: there is no such secret, or it holds no text.
        """
        try:
            answer = self._client.get_secret_value(SecretId=name)
        except (BotoCoreError, ClientError) as error:
            raise SecretError(f"secret {name} cannot be read ({reason(error)})") from error
        text = answer.get("SecretString", "")
        if not text:
            raise SecretError(f"secret {name} holds no text")
        return str(text)


class Mail:
    """E-mail, by way of the topic that its readers subscribed to."""

    def __init__(self, sns: "SNSClient") -> None:
        self._client = sns

    def send(self, topic_arn: str, subject: str, text: str) -> None:
        """Publish it; SNS delivers to the readers.

        Raises:
            DeliveryError: SNS did not take it.
        """
        try:
            self._client.publish(TopicArn=topic_arn, Subject=subject, Message=text)
        except (BotoCoreError, ClientError) as error:
            raise DeliveryError(f"refused with {reason(error)}") from error


class HttpPoster:
    """Posts JSON. ``sleep`` waits between attempts."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        # At DEBUG urllib3 writes the path of each request into the log, and Slack's path is the secret.
        logging.getLogger("urllib3").setLevel(logging.WARNING)
        self._pool = urllib3.PoolManager(timeout=TIMEOUT, retries=False)
        self._sleep = sleep

    def post(
        self,
        url: str,
        body: Mapping[str, object],
        sign: Sign | None = None,
    ) -> None:
        """Post ``body`` to ``url``, with the headers that ``sign`` gives for its bytes; any 2xx answer is success.

        Raises:
            DeliveryError: refused, or not taken after three attempts. The message names no URL.
        """
        sent = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(sign(sent) if sign else {})}
        answer = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._sleep(BACKOFF_SECONDS[attempt - 1])
            status, answer = self._attempt(url, sent, headers)
            if 200 <= status < 300:
                return
            if status and status not in TRY_AGAIN:
                raise DeliveryError(f"refused with {answer}")
        raise DeliveryError(f"not taken after {ATTEMPTS} attempts: {answer}")

    def _attempt(self, url: str, sent: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """The HTTP status (0 when there was no answer) and what to say of it."""
        try:
            response = self._pool.request("POST", url, body=sent, headers=headers, redirect=False)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            return 0, type(error).__name__
        return response.status, f"HTTP {response.status}"

    def close(self) -> None:
        """Close the connections that are kept for the next page."""
        self._pool.clear()


@dataclass(frozen=True, slots=True)
class Senders:
    """What a page travels by; ``now`` is unix seconds."""

    secrets: Secrets
    http: HttpPoster
    mail: Mail
    now: Callable[[], float]


def send(destination: Destination, page: Page, senders: Senders) -> None:
    """Tell ``destination`` of ``page``.

    Raises:
        SecretError: the destination's secret is missing or malformed.
        DeliveryError: it was not taken.
    """
    match destination.kind:
        case Kind.SLACK:
            senders.http.post(senders.secrets.read(destination.address).strip(), {**slack.message(page)})
        case Kind.PAGERDUTY:
            fields = _fields(senders, destination, "routing_key")
            url = fields.get("events_url") or pagerduty.EVENTS_URL
            senders.http.post(url, pagerduty.event(page, fields["routing_key"]))
        case Kind.WEBHOOK:
            fields = _fields(senders, destination, "url", "key")
            senders.http.post(
                fields["url"], webhook.body(page), partial(webhook.signature, fields["key"], senders.now())
            )
        case Kind.EMAIL:
            senders.mail.send(destination.address, mail.subject(page), mail.text(page))


def send_notice(destination: Destination, notice: Notice, senders: Senders) -> None:
    """Tell ``destination`` of a notice; raises as ``send`` does."""
    if destination.kind is Kind.EMAIL:
        senders.mail.send(destination.address, mail.plain_subject(notice.subject), mail.plain_text(notice.body))
        return
    senders.http.post(senders.secrets.read(destination.address).strip(), {**slack.notice_message(notice)})


def _fields(senders: Senders, destination: Destination, *needed: str) -> dict[str, str]:
    name = destination.address
    try:
        written = json.loads(senders.secrets.read(name))
        fields = {str(key): str(value) for key, value in written.items() if value}
    except (ValueError, AttributeError):
        # The cause would quote the secret.
        fields = {}
    if not all(key in fields for key in needed):
        form = ", ".join(f'"{key}": "…"' for key in needed)
        raise SecretError(f"secret {name} is not JSON of the form {{{form}}}")
    return fields
