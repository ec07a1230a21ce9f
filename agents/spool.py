"""The disk between the agent and AWS: a minute's batch stays here until each sink has confirmed it.

One lane (a folder) for each sink, one file for each batch: the batch as JSON in a zlib stream, which carries its own
checksum. Files appear by rename, so a crash leaves a whole file or none. A damaged file is deleted and counted.
"""

import logging
import os
import re
import zlib
from pathlib import Path
from typing import Final

import msgspec

from agents.batch import Batch

logger = logging.getLogger(__name__)
# 72 hours of minutes in two lanes come to 20 MiB on a node of 32 cores (2.4 KB a batch).
LIMIT_BYTES: Final = 32 * 1024 * 1024
_SUFFIX: Final = ".batch"
_SEQUENCE: Final = "sequence"
_NAME: Final = re.compile(rf"\d+-\d+\{_SUFFIX}", re.ASCII)


class Spool:
    """Bounded: when full, the oldest batches make room. ``lost`` counts what was given up, until it is read."""

    def __init__(self, directory: Path, lanes: tuple[str, ...], limit: int = LIMIT_BYTES) -> None:
        self._directory = directory
        self._limit = limit
        self._lost = 0
        self._files: dict[str, dict[str, int]] = {}
        for lane in lanes:
            folder = directory / lane
            folder.mkdir(parents=True, exist_ok=True)
            named = (path for path in sorted(folder.iterdir()) if _NAME.fullmatch(path.name))
            self._files[lane] = {path.name: path.stat().st_size for path in named}
        self._sequence = self._read_sequence()

    @property
    def size(self) -> int:
        """Bytes of all batches on disk."""
        return sum(size for files in self._files.values() for size in files.values())

    def next_sequence(self) -> int:
        """A number that this disk has not given out before; survives restarts."""
        self._sequence += 1
        try:
            _write(self._directory / _SEQUENCE, str(self._sequence).encode())
        except OSError:
            logger.exception("the sequence number was not written")
        return self._sequence

    def put(self, lane: str, batch: Batch) -> None:
        """Keep ``batch`` for ``lane``.

        Raises:
            OSError: the disk is full or read-only.
        """
        content = zlib.compress(msgspec.json.encode(batch))
        name = f"{batch.minute:012d}-{batch.seq:010d}{_SUFFIX}"
        _write(self._directory / lane / name, content)
        self._files[lane][name] = len(content)
        self._make_room()

    def newest_first(self, lane: str) -> list[str]:
        """Names of the lane's batches."""
        return sorted(self._files[lane], reverse=True)

    def read(self, lane: str, name: str) -> Batch | None:
        """The batch, or None for a file that is damaged or gone, which is then counted as lost."""
        try:
            content = zlib.decompress((self._directory / lane / name).read_bytes())
            return msgspec.json.decode(content, type=Batch)
        except (OSError, ValueError, zlib.error) as error:
            logger.warning("spooled batch %s/%s: %s", lane, name, error)
        self.give_up(lane, name)
        return None

    def remove(self, lane: str, name: str) -> None:
        """Forget a batch that was confirmed."""
        self._files[lane].pop(name, None)
        try:
            (self._directory / lane / name).unlink(missing_ok=True)
        except OSError:
            # A disk that has become read-only: after a restart the batch is sent twice, which queries can tell.
            logger.exception("spooled batch %s/%s could not be deleted", lane, name)

    def give_up(self, lane: str, name: str) -> None:
        """Forget a batch that was not, and count it."""
        self.remove(lane, name)
        self._lost += 1

    def lost(self) -> int:
        """Batches given up since the last call."""
        count, self._lost = self._lost, 0
        return count

    def _make_room(self) -> None:
        while self.size > self._limit:
            lane = min((lane for lane, files in self._files.items() if files), key=lambda lane: min(self._files[lane]))
            self.give_up(lane, min(self._files[lane]))

    def _read_sequence(self) -> int:
        try:
            return int((self._directory / _SEQUENCE).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0


def minute_of(name: str) -> int:
    """The minute of the batch in the file ``name``, unix seconds."""
    return int(name.partition("-")[0])


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(".writing")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.rename(path)
