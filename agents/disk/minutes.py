"""The minutes of one boot as they begin and end: each has its number and its journal."""

from dataclasses import dataclass

from agents.collectors.collector import Evidence
from agents.collectors.jobs.job import Job
from agents.disk.journal import Header, Journal, Unfinished
from agents.disk.sequence_file import SequenceFile
from agents.minute.window import Reading


@dataclass(frozen=True, slots=True)
class Begun:
    """The minute in progress: its start in unix seconds, and its number."""

    minute: int
    seq: int


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
