"""What CloudWatch Logs has handed over to S3: which hours have changed, and the log events in an object.

An object is gzip members one after the other, each a batch as a subscription sends it: {"messageType", "logEvents":
[{"message"}]}. Source: "Log group-level subscription filters", CloudWatch Logs User Guide. Firehose joins them as they
are, because its own decompression and extraction are paid for by the byte.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet.ledger.columns import EVENTS
from lambdas.cost_report.store import StoredObject

_GZIP: Final = 16 + zlib.MAX_WBITS
_PIECE: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Arrived:
    """One hour's objects, and what tells whether they are the same as at the last look."""

    hour: str
    keys: tuple[str, ...]
    digest: str


def by_hour(objects: Iterable[StoredObject]) -> tuple[Arrived, ...]:
    """The hours of ``objects``, the oldest first."""
    hours: dict[str, list[StoredObject]] = {}
    for each in objects:
        hour = each.key.removeprefix(EVENTS).partition("/")[0]
        hours.setdefault(hour, []).append(each)
    return tuple(
        Arrived(
            hour,
            tuple(sorted(each.key for each in of)),
            f"{len(of)} {sum(each.size for each in of)} {max(each.changed_at for each in of):%Y-%m-%dT%H:%M:%SZ}",
        )
        for hour, of in sorted(hours.items())
    )


def events(content: bytes) -> Iterator[Mapping[str, Any] | str]:
    """The log events of an object; a text in place of what could not be read, one line each."""
    for batch in _batches(content):
        if isinstance(batch, str):
            yield batch
        elif batch.get("messageType") == "DATA_MESSAGE":
            for entry in batch.get("logEvents", ()):
                yield _event(entry)


def _event(entry: object) -> Mapping[str, Any] | str:
    try:
        event = json.loads(entry["message"]) if isinstance(entry, Mapping) else None
    except (KeyError, TypeError, ValueError) as error:
        return f"a log event is not JSON: {error}"
    return event if isinstance(event, Mapping) else "a log event is no JSON object"


def _batches(content: bytes) -> Iterator[Mapping[str, Any] | str]:
    at, view = 0, memoryview(content)
    while at < len(view):
        left = len(view) - at
        try:
            unpacked, taken = _member(view[at:])
            batch = json.loads(unpacked)
        except (zlib.error, ValueError) as error:
            # Where the next member begins is not known either.
            yield f"{left} bytes of an object cannot be read: {error}"
            return
        if not isinstance(batch, Mapping):
            yield f"{left} bytes of an object are no batch of log events"
            return
        yield batch
        at += taken


def _member(rest: memoryview) -> tuple[bytes, int]:
    """What the first gzip member of ``rest`` holds, and its length. A piece at a time: a member is small.

    Given all of ``rest``, zlib would copy what follows the member, and an object has thousands of them.
    """
    member, found, taken = zlib.decompressobj(_GZIP), bytearray(), 0
    while not member.eof:
        piece = rest[taken : taken + _PIECE]
        if not piece:
            raise zlib.error("it ends within a batch")
        found += member.decompress(piece)
        taken += len(piece)
    return bytes(found), taken - len(member.unused_data)
