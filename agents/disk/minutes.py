"""The minutes of one boot as they begin and end: each has its journal and its number.

With the boot, the number tells a batch that was sent twice from two batches. A clock that steps back lives the same
minutes again; both lives were measured and both are published. What tells them apart is this number, which is taken
when a minute begins and does not look at the clock. Numbers are given out without gaps, so a gap in the log is a minute
that never arrived.
"""

import logging
import zlib
from dataclasses import dataclass
from pathlib import Path

from agents.collectors.collector import Evidence
from agents.collectors.jobs.job import Job
from agents.disk.journal import Header, Journal, Unfinished
from agents.minute.window import Reading
from workload import durable_file

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Begun:
    """The minute in progress: its start in unix seconds, and its number."""

    minute: int
    seq: int


class SequenceFile:
    """Numbers that this disk has not given out before, over restarts and boots.

    The file is overwritten in place, which works on a full disk. A torn or damaged one is made good for by
    ``at_least``: the highest number that is known from elsewhere, which is the batches that wait and the journal.
    """

    def __init__(self, path: Path, at_least: int = 0) -> None:
        self._path = path
        self._last = max(self._read(), at_least)

    def next(self) -> int:
        """The next number, one higher than the last."""
        self._last += 1
        return self._last

    def save(self) -> None:
        """Write the last number down. A disk that refuses is logged."""
        number = f"{self._last:016d}"
        try:
            durable_file.overwrite(self._path, f"{number} {zlib.crc32(number.encode()):08x}\n".encode())
        except OSError as error:
            logger.warning("%s: %s", self._path, error.strerror)

    def _read(self) -> int:
        try:
            number, checksum = self._path.read_text(encoding="ascii").split()
            return int(number) if int(checksum, 16) == zlib.crc32(number.encode()) else 0
        except (OSError, ValueError):
            return 0


class Minutes:
    """Numbers minutes and keeps the one in progress on disk."""

    def __init__(self, journal: Journal, sequence: SequenceFile, boot_id: str, unfinished: Unfinished | None) -> None:
        """``unfinished`` is what the journal held when this boot's agent started, unless it was of another boot."""
        self._journal = journal
        self._sequence = sequence
        self._boot_id = boot_id
        self._unfinished = unfinished

    def unfinished(self, minute: int) -> tuple[Unfinished | None, bool]:
        """The minute that an agent before this one left, once; and whether it is the current ``minute``."""
        found, self._unfinished = self._unfinished, None
        return found, found is not None and found.header.minute == minute

    def resume(self, unfinished: Unfinished) -> Begun:
        """Go on with it, under its number."""
        self._journal.resume(unfinished)
        return Begun(unfinished.header.minute, unfinished.header.seq)

    def begin(self, minute: int, jobs: tuple[Job, ...], evidence: Evidence) -> Begun:
        """A new minute, with the next number. Its journal replaces that of the one before, which is spooled by now."""
        begun = Begun(minute, self._sequence.next())
        # The journal first: an agent that dies before the number is written down finds it there, and no number is lost.
        self._journal.begin(Header(begun.minute, begun.seq, self._boot_id, jobs, evidence))
        self._sequence.save()
        return begun

    def append(self, reading: Reading) -> None:
        """Keep one report of the minute in progress."""
        self._journal.append(reading)

    def end(self) -> None:
        """The last minute is spooled."""
        self._journal.discard()
