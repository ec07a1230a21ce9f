"""Records of the kernel log, from ``/dev/kmsg`` or from a file that holds what was read there.

Format (``Documentation/ABI/testing/dev-kmsg`` of the kernel): ``priority,sequence,microseconds,flags[,…];text``, one
record a read; lines that begin with a blank are properties of the record before. A reader that is overtaken gets
EPIPE once and goes on with the oldest record left.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.errors import NotAKernelLogError

# A record with its properties; the kernel's own limit is 8 KiB.
_RECORD_BYTES: Final = 16 * 1024
# More than any ring buffer holds: what is left is read a minute later.
_MOST_RECORDS: Final = 50_000
_MOST_FILE_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Record:
    """One message; ``sequence`` is unique in a boot and grows."""

    sequence: int
    text: str


class KernelRecords:
    """Reads on where it stopped. ``lost`` counts records that were overwritten before they were read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._file: tuple[int, int] | None = None
        self._position = 0
        self._sequence: int | None = None
        self.lost = 0

    def new(self) -> list[Record]:
        """Everything since the last call; from the oldest record on at the first. Empty where there is no log.

        Raises:
            OSError: the log exists and may not be read.
            NotAKernelLogError: there is something else at its path.
        """
        try:
            mode = self._path.stat().st_mode
        except FileNotFoundError:
            return []
        if stat.S_ISCHR(mode):
            chunks = self._from_device()
        elif stat.S_ISREG(mode):
            chunks = self._from_file()
        else:
            raise NotAKernelLogError(f"{self._path.name} is neither a device nor a file")
        records: list[Record] = []
        try:
            for chunk in chunks:
                record = _record(chunk)
                if record is not None:
                    self._count_gap(record.sequence)
                    records.append(record)
        except OSError:
            # What was read before the log failed is not lost; a lasting failure shows in the next call.
            if not records:
                raise
        return records

    def _from_device(self) -> Iterator[bytes]:
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        for _ in range(_MOST_RECORDS):
            try:
                chunk = os.read(self._descriptor, _RECORD_BYTES)
            except BlockingIOError:
                return
            except BrokenPipeError:
                # Overtaken by the kernel: the gap in the sequence tells by how much.
                continue
            if not chunk:
                return
            yield chunk

    def _from_file(self) -> Iterator[bytes]:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            identity = (status.st_dev, status.st_ino)
            if identity != self._file or status.st_size < self._position:
                self._file, self._position = identity, 0
            content = os.pread(descriptor, _MOST_FILE_BYTES, self._position)
        finally:
            os.close(descriptor)
        # The last line may still be in the making; one that fills the whole bound is skipped.
        complete = content.rfind(b"\n") + 1 or (len(content) if len(content) == _MOST_FILE_BYTES else 0)
        self._position += complete
        yield from content[:complete].splitlines()

    def _count_gap(self, sequence: int) -> None:
        if self._sequence is not None and sequence > self._sequence + 1:
            self.lost += sequence - self._sequence - 1
        self._sequence = sequence


def _record(chunk: bytes) -> Record | None:
    prefix, separator, rest = chunk.partition(b";")
    fields = prefix.split(b",")
    if not separator or len(fields) < 3 or not fields[1].isdigit() or len(fields[1]) > 20:
        return None
    text = rest.partition(b"\n")[0]
    return Record(int(fields[1]), text.decode("utf-8", "replace"))
