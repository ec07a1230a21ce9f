"""The minute in progress on disk, so that an agent that is killed loses at most the report it was writing.

One file: a header, then one record for each report (its merged sample, not the line), each with length and CRC-32.
It is not synced: a killed process loses nothing of it, a power failure some seconds. The header's sequence number is
taken when the minute begins, so the minute carries the same one however often it is taken up again, and a batch that
is published twice is an identified twin. The file is replaced when the next minute begins, which is after every lane
of the spool has the batch; a crash in between publishes the twin.

What is found at the next start:

* the same boot and minute: the minute goes on, with the same number;
* an earlier minute, or a later one because the clock was set back meanwhile: it is closed and published first;
* another boot: closed and published too, under the boot in which it was measured. The reports were taken, and the
  sequence number lives as long as the disk, so (node, boot_id, seq) stays unique.
"""

import logging
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from agents.collectors.collector import Evidence
from agents.collectors.jobs.job import Job
from agents.minute.window import Reading
from workload import durable_file

logger = logging.getLogger(__name__)
# Two minutes (a clock set back by less than one) of one-second reports of 128 cores, 12 KB each, with room.
LIMIT_BYTES: Final = 8 * 1024 * 1024
_FRAME: Final = struct.Struct(">II")
_ENCODER: Final = msgspec.msgpack.Encoder()


@dataclass(frozen=True, slots=True)
class Header:
    """Which minute it is.

    ``jobs`` and ``evidence`` are those of the minute before: who is asked later may not know them any more.
    """

    minute: int
    seq: int
    boot_id: str
    jobs: tuple[Job, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A journal as it was left. ``torn`` is whether the record after the last whole one was cut; ``end`` its place."""

    header: Header
    readings: tuple[Reading, ...]
    torn: bool
    end: int


class Journal:
    """One file. A disk that refuses is logged once for each minute; the minute itself goes on without."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end: int | None = None
        self.is_damaged = False

    def begin(self, header: Header) -> None:
        """Replace what was there. Refused, the old minute stays on disk: at worst it becomes a twin."""
        record = _framed(_ENCODER.encode(header))
        self._end = None
        try:
            durable_file.replace_file(self._path, record, through=False)
        except OSError as error:
            logger.warning("%s: %s; this minute would not survive a crash", self._path, error.strerror)
            return
        self._end = len(record)

    def resume(self, unfinished: Unfinished) -> None:
        """Go on behind the last whole record."""
        self._end = unfinished.end

    def append(self, reading: Reading) -> None:
        """Keep one report."""
        if self._end is None:
            return
        record = _framed(_ENCODER.encode(reading))
        if self._end + len(record) > LIMIT_BYTES:
            logger.warning("%s: full; the rest of this minute would not survive a crash", self._path)
            self._end = None
            return
        try:
            self._end = durable_file.append(self._path, record, self._end)
        except OSError as error:
            # The end stays where it was: the next record overwrites what was written of this one.
            logger.warning("%s: %s; a report would not survive a crash", self._path, error.strerror)

    def discard(self) -> None:
        """Forget the minute: every lane has it."""
        self._end = None
        try:
            durable_file.remove(self._path)
        except OSError as error:
            logger.warning("%s: %s; the last minute will be sent twice", self._path, error.strerror)

    def read(self) -> Unfinished | None:
        """The minute that was not finished; None when there is none, or nothing of it can be read.

        ``is_damaged`` tells the two apart; such a file is logged, and replaced by the next minute.
        """
        try:
            with self._path.open("rb") as stream:
                content = stream.read(LIMIT_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("%s: %s", self._path, error.strerror)
            return None
        records, end = _records(content)
        try:
            header = msgspec.msgpack.decode(records[0], type=Header)
            readings = tuple(msgspec.msgpack.decode(record, type=Reading) for record in records[1:])
        except (IndexError, msgspec.DecodeError) as error:
            self.is_damaged = True
            logger.warning("%s: damaged, or of another version: %s", self._path, error)
            return None
        return Unfinished(header, readings, torn=end < len(content), end=end)


def _framed(payload: bytes) -> bytes:
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def _records(content: bytes) -> tuple[list[bytes], int]:
    records: list[bytes] = []
    end = 0
    while end + _FRAME.size <= len(content):
        length, checksum = _FRAME.unpack_from(content, end)
        payload = content[end + _FRAME.size : end + _FRAME.size + length]
        if len(payload) < length or zlib.crc32(payload) != checksum:
            break
        records.append(payload)
        end += _FRAME.size + length
    return records, end
