"""What comes in: a CloudWatch alarm's SNS message or a notice, at once or from the queue of what is tried again.

SNS gives the function a message at once, and Lambda repeats a failed one after one minute and again after two. It then
goes to the waiting queue as the event that it was; so does, as SNS wrote it, a message that SNS could not hand over.
Unknown fields are ignored.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# How the subject or the first line of a letter of AWS Budgets begins.
_BUDGETS: Final = "AWS Budget"
# A minute, doubled each time up to ten; so it stays for more than three hours.
FIRST_WAIT_SECONDS: Final = 60
LONGEST_WAIT_SECONDS: Final = 600


class State(StrEnum):
    """An alarm's state, in CloudWatch's spelling."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


class Severity(StrEnum):
    """Whether somebody is woken up."""

    PAGE = "page"
    TICKET = "ticket"


class _In(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class AlarmChange(_In):
    """One transition of a metric alarm or a composite alarm, as CloudWatch sends it to SNS.

    Both kinds share these fields; a metric alarm adds ``Trigger``, a composite ``AlarmRule`` and its children.
    """

    name: str = Field(alias="AlarmName")
    arn: str = Field(alias="AlarmArn")
    description: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(default="", alias="AlarmDescription")
    state: State = Field(alias="NewStateValue")
    old_state: State = Field(alias="OldStateValue")
    reason: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(default="", alias="NewStateReason")
    changed_at: AwareDatetime = Field(alias="StateChangeTime")
    contributor: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(
        default="", alias="AlarmContributorId"
    )
    """Which of the series that the alarm follows; empty where the transition is the alarm's own."""
    attributes: Annotated[Mapping[str, str], BeforeValidator(lambda named: named or {})] = Field(
        default_factory=dict, alias="AlarmContributorAttributes"
    )
    """The labels of that series, such as ``job`` and ``node``."""

    @property
    def region(self) -> str:
        """The region's code; the message's own ``Region`` is a display name."""
        return self.arn.split(":")[3]

    @property
    def identity(self) -> str:
        """What can have one incident at a time: an alarm, or one job of those that an alarm follows."""
        if not self.contributor:
            return self.arn
        return f"{self.arn}|{self.attributes.get('job', '')}"

    @property
    def changed_at_text(self) -> str:
        """UTC with milliseconds, so that texts sort as times do."""
        return self.changed_at.astimezone(UTC).isoformat(timespec="milliseconds")


class Notice(_In):
    """What a function of the platform tells people, on the same topics as alarms. ``key`` makes it one message."""

    key: str = Field(alias="notice_key")
    subject: str
    body: str


class SnsMessage(_In):
    """The part of an SNS record that matters here."""

    topic_arn: str = Field(alias="TopicArn")
    message: str = Field(alias="Message")
    message_id: str = Field(default="", alias="MessageId")
    subject: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(default="", alias="Subject")

    @property
    def severity(self) -> Severity:
        """The topic decides: only a topic that calls itself a ticket topic does not wake anybody."""
        topic = self.topic_arn.rpartition(":")[2].lower()
        return Severity.TICKET if "ticket" in topic else Severity.PAGE

    @property
    def budget_notice(self) -> Notice | None:
        """What AWS Budgets says, which is a letter and no JSON; None for anything else.

        Source: Cost Management user guide, "Creating an Amazon SNS topic for budget notifications".
        """
        first_line = self.message.lstrip().partition("\n")[0]
        if self.severity is not Severity.TICKET or _BUDGETS not in f"{self.subject}\n{first_line}":
            return None
        subject = self.subject if _BUDGETS in self.subject else first_line
        return Notice(key=f"aws-budgets:{self.message_id or subject}", subject=subject, body=self.message)


class SnsRecord(_In):
    """One record of the Lambda event."""

    sns: SnsMessage = Field(alias="Sns")


class SnsEvent(_In):
    """The Lambda event of an SNS subscription."""

    records: tuple[SnsRecord, ...] = Field(alias="Records")


class _Attributes(BaseModel):
    receive_count: int = Field(default=1, alias="ApproximateReceiveCount")


class _Waiting(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message_id: str = Field(alias="messageId")
    receipt_handle: str = Field(alias="receiptHandle")
    body: str
    attributes: _Attributes = _Attributes()


@dataclass(frozen=True, slots=True)
class Arrival:
    """One message of the waiting queue, with the SNS messages in it; none where it cannot be read."""

    message_id: str
    receipt_handle: str
    wait_seconds: int
    messages: tuple[SnsMessage, ...]


def is_from_the_queue(event: Mapping[str, Any]) -> bool:
    """Whether the waiting queue sent the event, and not SNS."""
    records = event.get("Records") or [{}]
    return bool(records[0].get("eventSource") == "aws:sqs")


def waiting(event: Mapping[str, Any]) -> Iterator[Arrival]:
    """The messages of an event of the waiting queue."""
    for record in map(_Waiting.model_validate, event["Records"]):
        wait = wait_after(record.attributes.receive_count)
        yield Arrival(record.message_id, record.receipt_handle, wait, _messages(record.body))


def wait_after(tries: int) -> int:
    """Seconds to the next try after ``tries`` in the queue: 60, 120, 240, 480, 600, 600…"""
    return int(min(FIRST_WAIT_SECONDS * 2 ** min(tries - 1, 10), LONGEST_WAIT_SECONDS))


def patience(tries: int) -> int:
    """Seconds from the first to the last of so many tries."""
    return [0, *accumulate(wait_after(each) for each in range(1, tries))][-1]


def _messages(body: str) -> tuple[SnsMessage, ...]:
    for read in (_of_event, _of_envelope):
        try:
            return read(body)
        except ValueError:
            continue
    return ()


def _of_event(body: str) -> tuple[SnsMessage, ...]:
    return tuple(record.sns for record in SnsEvent.model_validate_json(body).records)


def _of_envelope(body: str) -> tuple[SnsMessage, ...]:
    return (SnsMessage.model_validate_json(body),)


class WaitingQueue:
    """The messages that are to be tried again."""

    def __init__(self, sqs: "SQSClient", url: str) -> None:
        self._client, self._url = sqs, url

    def put_off(self, receipt_handle: str, seconds: int) -> None:
        """Show the message again after ``seconds``; if SQS does not answer, after the queue's own time."""
        with suppress(BotoCoreError, ClientError):
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=seconds
            )
