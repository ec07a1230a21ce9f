"""The disk between the agent and AWS: a minute's batch stays here until each sink has confirmed it.

One lane (a folder) for each sink, one file for each batch: the batch as JSON in a zlib stream, which carries its own
checksum. Files appear by rename and are synced, so a crash leaves a whole file or none. A damaged file is deleted and
counted; a file that is not the agent's is left alone.

A disk that takes nothing (full, read-only, no permission) is tried again with every batch. Meanwhile at most
``MEMORY_BYTES`` of batches, as compressed as on disk, wait in memory: they are lost if the agent is killed then.
"""

import logging
import re
import threading
import zlib
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from agents.disk.lane import Dropped, Lane, Waiting
from agents.minute.batch import Batch

logger = logging.getLogger(__name__)
# 72 hours are 4,320 log events, and 3 hours of metrics: 15 MB on a node of 128 cores (3.3 and 1.3 KB a batch).
LIMIT_BYTES: Final = 32 * 1024 * 1024
# Ten hours of both lanes of such a node.
MEMORY_BYTES: Final = 3 * 1024 * 1024
_SUFFIX: Final = ".batch"
_NAME: Final = re.compile(rf"\d+-\d+\{_SUFFIX}", re.ASCII)


class Spool:
    """Bounded: when full, the oldest batches make room. May be used by two threads: one that puts, one that sends."""

    def __init__(
        self, directory: Path, lanes: tuple[str, ...], limit: int = LIMIT_BYTES, memory_limit: int = MEMORY_BYTES
    ) -> None:
        self._limit = limit
        self._memory_limit = memory_limit
        self._dropped: Counter[Dropped] = Counter()
        self._lock = threading.RLock()
        self._lanes = {lane: Lane(directory / lane, _NAME) for lane in lanes}

    @property
    def size(self) -> int:
        """Bytes of all batches that wait, on disk and in memory."""
        with self._lock:
            return sum(lane.size for lane in self._lanes.values())

    def put(self, lane: str, batch: Batch) -> None:
        """Keep ``batch`` for ``lane``: on disk, or in memory while the disk refuses."""
        name = f"{max(0, batch.minute):012d}-{batch.seq:010d}{_SUFFIX}"
        content = zlib.compress(msgspec.json.encode(batch), 9)
        with self._lock:
            try:
                for each in self._lanes.values():
                    each.settle()
                self._lanes[lane].write(name, content)
            except OSError as error:
                logger.error("spool: %s; the batch of %s waits in memory", error, lane)  # noqa: TRY400 - told by errno
                self._lanes[lane].hold(name, content)
            self._make_room()

    def newest_first(self, lane: str) -> list[str]:
        """Names of the lane's batches."""
        with self._lock:
            return sorted(self._lanes[lane].names(), reverse=True)

    def read(self, lane: str, name: str) -> Batch | None:
        """The batch. None when it is damaged or gone, which is counted, or when the disk fails to read it just now."""
        with self._lock:
            if name not in self._lanes[lane].names():
                # It made room for a newer one since the caller looked.
                return None
            try:
                return msgspec.json.decode(zlib.decompress(self._lanes[lane].read(name)), type=Batch)
            except (FileNotFoundError, ValueError, zlib.error) as error:
                logger.warning("spooled batch %s/%s: %s", lane, name, error)
                self.give_up(lane, name, Dropped.DAMAGED)
            except OSError as error:
                logger.warning("spooled batch %s/%s: %s", lane, name, error)
            return None

    def remove(self, lane: str, name: str) -> None:
        """Forget a batch that was confirmed."""
        with self._lock:
            try:
                self._lanes[lane].remove(name)
            except OSError as error:
                # A disk that has become read-only: after a restart the batch is sent twice, which queries can tell.
                logger.warning("spooled batch %s/%s could not be deleted: %s", lane, name, error.strerror)

    def give_up(self, lane: str, name: str, reason: Dropped) -> None:
        """Forget a batch that was not confirmed, and count it."""
        with self._lock:
            self.remove(lane, name)
            self._dropped[reason] += 1

    def count(self, reason: Dropped, number: int = 1) -> None:
        """Count what was lost on the way here."""
        with self._lock:
            self._dropped[reason] += number

    def dropped(self) -> dict[Dropped, int]:
        """What was given up since the last call, by reason."""
        with self._lock:
            counts, self._dropped = self._dropped, Counter()
            return dict(counts)

    def waiting(self) -> Waiting:
        """What has not been confirmed."""
        with self._lock:
            names = [name for lane in self._lanes.values() for name in lane.names()]
            oldest = min((minute_of(name) for name in names), default=None)
            return Waiting(self.size, len(names), sum(len(lane.held) for lane in self._lanes.values()), oldest)

    def highest_sequence(self) -> int:
        """The highest number among the batches that wait."""
        with self._lock:
            return max((_sequence_of(name) for lane in self._lanes.values() for name in lane.names()), default=0)

    def _make_room(self) -> None:
        while sum(lane.held_size for lane in self._lanes.values()) > self._memory_limit:
            lane = min((lane for lane, files in self._lanes.items() if files.held), key=self._oldest_held)
            self.give_up(lane, min(self._lanes[lane].held), Dropped.NO_ROOM)
        while self.size > self._limit:
            lane = min((lane for lane, files in self._lanes.items() if files.names()), key=self._oldest)
            self.give_up(lane, min(self._lanes[lane].names()), Dropped.NO_ROOM)

    def _oldest(self, lane: str) -> str:
        return min(self._lanes[lane].names())

    def _oldest_held(self, lane: str) -> str:
        return min(self._lanes[lane].held)


def minute_of(name: str) -> int:
    """The minute of the batch in the file ``name``, unix seconds."""
    return int(name.partition("-")[0])


def _sequence_of(name: str) -> int:
    return int(name.partition("-")[2].removesuffix(_SUFFIX))
