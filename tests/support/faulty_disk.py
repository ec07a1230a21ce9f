"""A disk that is full for a while, and on which the agent is killed in the middle of a write.

A SIGKILL is an exception that no code of the agent catches, raised from inside a file operation: a write that was
begun leaves a part of itself, a rename has happened or has not. Everything the agent had in memory is then abandoned.
"""

import errno
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from workload import durable_file


class KilledError(BaseException):
    """SIGKILL."""


class FaultyDisk:
    """Stands between ``workload.durable_file`` and the operating system. Nothing is synced: no power fails here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, chance: random.Random) -> None:
        self.is_full = False
        self.kills = 0
        self.refusals = 0
        self._chance = chance
        self._operations_to_live: list[int] = []
        monkeypatch.setattr(durable_file, "os", self)

        def rename(path: Path, target: Path) -> Path:
            self.rename(path, target)
            return target

        def unlink(path: Path, *, missing_ok: bool = False) -> None:
            with suppress(*(FileNotFoundError,) if missing_ok else ()):
                self.unlink(path)

        monkeypatch.setattr(Path, "rename", rename)
        monkeypatch.setattr(Path, "unlink", unlink)

    def kill_soon(self, operations: int) -> None:
        """Kill the agent in that many file operations from now, or from the kill that is due before."""
        self._operations_to_live.append(operations)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, content: memoryview) -> int:
        """A part of ``content`` when the agent dies in it, or when the disk is full and the file would grow."""
        dies = self._dies()
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if self.is_full and end + len(content) > os.fstat(descriptor).st_size:
            self.refusals += 1
            os.write(descriptor, content[: len(content) // 3])
            if dies:
                raise KilledError
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if dies:
            os.write(descriptor, content[: self._chance.randrange(len(content) + 1)])
            raise KilledError
        return os.write(descriptor, content)

    def fsync(self, _descriptor: int) -> None:
        """Before or after it makes no difference to a process that is killed."""
        if self._dies():
            raise KilledError

    def rename(self, path: Path | str, target: Path | str) -> None:
        """Killed just before, or just after."""
        dies = self._dies()
        if not dies or self._chance.random() < 0.5:
            os.rename(path, target)  # noqa: PTH104 - what it stands before
        if dies:
            raise KilledError

    def unlink(self, path: Path | str) -> None:
        """Killed just before, or just after."""
        dies = self._dies()
        if not dies or self._chance.random() < 0.5:
            os.unlink(path)  # noqa: PTH108 - what it stands before
        if dies:
            raise KilledError

    def _dies(self) -> bool:
        if not self._operations_to_live:
            return False
        self._operations_to_live[0] -= 1
        if self._operations_to_live[0] >= 0:
            return False
        del self._operations_to_live[0]
        self.kills += 1
        return True
