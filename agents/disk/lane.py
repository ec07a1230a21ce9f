"""One lane of the spool: the batches that wait for one sink, on disk and, while the disk refuses, in memory."""

import logging
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from workload import durable_file

logger = logging.getLogger(__name__)


class Dropped(StrEnum):
    """Why a batch will never arrive; ``TORN`` is a report that the agent was writing when it was killed."""

    TOO_OLD = "too_old"
    NO_ROOM = "no_room"
    DAMAGED = "damaged"
    REFUSED = "refused"
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has not been confirmed: bytes and batches in all, batches in memory, the oldest's minute."""

    bytes: int
    batches: int
    in_memory: int
    oldest: int | None


class Lane:
    """Not safe for threads: the spool is. ``held`` are the batches in memory, by name."""

    def __init__(self, folder: Path, pattern: re.Pattern[str]) -> None:
        self._folder = folder
        self._files: dict[str, int] = {}
        self._bytes = 0
        self.held: dict[str, bytes] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            found = sorted(folder.iterdir())
        except OSError as error:
            logger.error("%s: %s; batches wait in memory", folder, error.strerror)  # noqa: TRY400 - told by errno
            found = []
        for path in found:
            try:
                self._note(path, pattern)
            except OSError as error:
                logger.warning("%s: %s", path, error.strerror)

    @property
    def size(self) -> int:
        """Bytes on disk and in memory."""
        return self._bytes + self.held_size

    @property
    def held_size(self) -> int:
        """Bytes in memory."""
        return sum(map(len, self.held.values()))

    def names(self) -> set[str]:
        """Every batch once."""
        return {*self._files, *self.held}

    def write(self, name: str, content: bytes) -> None:
        """Put it on disk, or raise ``OSError``."""
        # The folder may have been out of reach when the agent started.
        self._folder.mkdir(parents=True, exist_ok=True)
        durable_file.replace_file(self._path(name), content)
        self._bytes += len(content) - self._files.get(name, 0)
        self._files[name] = len(content)

    def hold(self, name: str, content: bytes) -> None:
        """Keep it in memory."""
        self.held[name] = content

    def settle(self) -> None:
        """Put on disk what is in memory, the newest first, or raise ``OSError``."""
        for name in sorted(self.held, reverse=True):
            self.write(name, self.held[name])
            del self.held[name]

    def read(self, name: str) -> bytes:
        """Its content."""
        if name in self.held:
            return self.held[name]
        with open(self._path(name), "rb") as file:  # noqa: PTH123 - a name that is used once, see durable_file
            return file.read()

    def remove(self, name: str) -> None:
        """Forget it, also when the disk raises ``OSError``."""
        self.held.pop(name, None)
        size = self._files.pop(name, None)
        if size is not None:
            self._bytes -= size
            durable_file.remove(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _note(self, path: Path, pattern: re.Pattern[str]) -> None:
        own = path.name.removesuffix(durable_file.TEMPORARY_SUFFIX)
        if not pattern.fullmatch(own) or not path.is_file():
            return
        if own != path.name:
            # Half a file of an agent that was killed: the journal still has the minute.
            path.unlink(missing_ok=True)
            return
        self._files[path.name] = path.stat().st_size
        self._bytes += self._files[path.name]
