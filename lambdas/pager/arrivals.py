"""How messages arrive: from SNS at once, and, what could not be done then, from the queue of what is tried again.

SNS gives the function a message at once, and Lambda repeats a failed one after one minute and again after two. It then
goes to the waiting queue as the event that it was; so does, as SNS wrote it, a message that SNS could not hand over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from lambdas.pager.model import SnsEvent, SnsMessage

# A minute, doubled each time up to ten; so it stays for more than three hours.
FIRST_WAIT_SECONDS: Final = 60
LONGEST_WAIT_SECONDS: Final = 600


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
