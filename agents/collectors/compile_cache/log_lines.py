"""Counts cache hits in the logs of workloads: files do not show them, because a hit changes nothing in the cache.

Reading a cached NEFF moves its access time at most once a day (``relatime``), so only the line that the Neuron cache
prints tells of a hit. Its text is the same in every generation since 2022.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from glob import iglob
from itertools import islice
from typing import Final

HIT: Final = re.compile(rb"Using a cached neff at \S+?/MODULE_[^/\s]+/\S*?\.neff")
FAILED_HIT: Final = re.compile(rb"Got a cached failed neff at \S+model\.neff")
_MOST_FILES: Final = 64
# Bytes read in a minute, of all files together and of one of them.
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_OF_ONE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogCounts:
    """New lines in all files: graphs found compiled, and graphs whose failure was found."""

    hits: int
    failed_hits: int


class LogTail:
    """Follows the files that ``pattern`` (a glob) names. What was in them before the first call is not read."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._offsets: dict[tuple[int, int], int] = {}
        self._is_first = True

    def count(self) -> LogCounts | None:
        """Lines that were added since the last call; None where no file matches."""
        hits = failed = files = 0
        left = _MOST_BYTES
        offsets: dict[tuple[int, int], int] = {}
        for name in islice(iglob(self._pattern), _MOST_FILES):  # noqa: PTH207 - Path.glob takes no absolute pattern
            files += 1
            for identity, data, offset in self._added(name, min(left, _MOST_OF_ONE)):
                hits += len(HIT.findall(data))
                failed += len(FAILED_HIT.findall(data))
                left -= len(data)
                offsets[identity] = offset
        self._offsets, self._is_first = offsets, False
        return LogCounts(hits, failed) if files else None

    def _added(self, name: str, limit: int) -> Iterator[tuple[tuple[int, int], bytes, int]]:
        try:
            # A pipe among the files would wait for its writer.
            descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError:
            return
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return
            identity = (status.st_dev, status.st_ino)
            start = self._offsets.get(identity, status.st_size if self._is_first else 0)
            if start > status.st_size:
                # Emptied and written anew.
                start = 0
            data = os.pread(descriptor, limit, start) if limit > 0 else b""
        finally:
            os.close(descriptor)
        # The rest of the last line is read when it is whole; a line that is longer than all we read is let go.
        whole = data.rpartition(b"\n")[0] if b"\n" in data or len(data) < limit else data
        yield identity, whole, start + len(whole) + (1 if len(whole) < len(data) and whole else 0)
