"""The number of a node's minute: with the boot it tells a batch that was sent twice from two batches.

A clock that steps back lives the same minutes again. Both lives were measured and both are published: what tells them
apart is this number, which is taken when a minute begins and does not look at the clock. Numbers are given out without
gaps, so a gap in the log is a minute that never arrived.
"""

import logging
import zlib
from pathlib import Path

from workload import durable_file

logger = logging.getLogger(__name__)


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
