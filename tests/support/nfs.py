"""A client of a network file system, with what NFS does to those who trust it, and which can be killed at any call.

``install`` puts it between the compile cache and the operating system, for this process. Below ``root``

- names that another client made show late, each client at another time;
- what another client wrote may read as zeros for a while after its name shows, with the right length;
- handles are stale now and then;
- the answer to a rename is lost now and then, and the repeated request fails because the first was done;
- locks are granted to everybody.
"""

import errno
import fcntl
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from workload import durable_file
from workload.compile_cache.tiers import content as contents
from workload.compile_cache.tiers import files

_MUTATING = ("mkdir", "rename", "unlink", "rmdir", "chmod", "fchmod", "fsync", "ftruncate", "utime")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class NfsClient:
    """``os`` as far as the compile cache uses it. ``late`` in seconds; ``stale`` and ``lost`` are chances.

    ``each_call`` is called before and after every call that changes something, and may not return.
    """

    def __init__(
        self,
        root: Path,
        *,
        seed: int = 1,
        late: float = 0.0,
        stale: float = 0.0,
        lost: float = 0.0,
        each_call: Callable[[str], None] = lambda _call: None,
    ) -> None:
        self._root, self._chance = str(root), random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._late, self._stale, self._lost = late, stale, lost
        self.each_call = each_call
        self._own: set[str] = set()
        self._lateness: dict[str, tuple[float, float]] = {}
        self._young: set[int] = set()
        self.late_names = self.late_blocks = self.stale_handles = self.lost_answers = 0

    def lateness(self) -> tuple[float, float]:
        """Seconds until a graph's name shows, and until its content does."""
        return self._chance.uniform(0, self._late), self._chance.uniform(0, self._late)

    def install(self) -> None:
        """For the rest of this process."""
        self._be(self)
        fcntl.flock = fcntl.lockf = lambda *_arguments: None  # lost locks

    @contextmanager
    def installed(self) -> Any:
        """For a while."""
        self._be(self)
        try:
            yield self
        finally:
            self._be(os)

    def _be(self, system: Any) -> None:
        for module in (files, contents, durable_file):
            module.os = system  # type: ignore[attr-defined]  # the seam

    def __getattr__(self, name: str) -> Any:
        call = getattr(os, name)
        if name not in _MUTATING:
            return call

        def counted(*arguments: Any, **named: Any) -> Any:
            self.each_call(f"before {name}")
            answer = call(*arguments, **named)
            self.each_call(f"after {name}")
            return answer

        return counted

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        writes = bool(flags & os.O_CREAT)
        if writes:
            self.each_call("before open")
        elif not flags & os.O_DIRECTORY:
            self._look_up(path)
        descriptor = os.open(path, flags, mode)
        if writes:
            self.each_call("after open")
        elif self._is_young(path, content=True):
            self._young.add(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._young.discard(descriptor)
        os.close(descriptor)

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        content = os.pread(descriptor, length, position)
        if descriptor not in self._young or not content:
            return content
        self.late_blocks += 1
        return bytes(len(content))

    def read(self, descriptor: int, length: int) -> bytes:
        content = os.read(descriptor, length)
        return content[: len(content) // 2] if descriptor in self._young and self._chance.random() < 0.2 else content

    def pwrite(self, descriptor: int, content: bytes, position: int) -> int:
        """Half of it, then the rest: a kill may come between the two."""
        half = len(content) // 2
        written = os.pwrite(descriptor, content[:half], position) if half else 0
        self.each_call("within pwrite")
        written += os.pwrite(descriptor, content[half:], position + half)
        self.each_call("after pwrite")
        return written

    def write(self, descriptor: int, content: bytes) -> int:
        half = len(content) // 2
        written = os.write(descriptor, content[:half]) if half else 0
        self.each_call("within write")
        return written + os.write(descriptor, content[half:])

    def rename(self, source: str, target: str) -> None:
        self.each_call("before rename")
        os.rename(source, target)  # noqa: PTH104 - what it stands before
        self._own.add(target)
        self.each_call("after rename")
        if target.startswith(self._root) and self._chance.random() < self._lost:
            self.lost_answers += 1
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)

    def listdir(self, folder: str) -> list[str]:
        found = os.listdir(folder)  # noqa: PTH208 - what it stands before
        return [name for name in found if not self._is_young(f"{folder}/{name}")]

    def scandir(self, folder: str) -> Any:
        if folder.startswith(self._root):
            self._look_up(folder)
        return _Names([item for item in os.scandir(folder) if not self._is_young(item.path)])

    def _look_up(self, path: str) -> None:
        if not path.startswith(self._root):
            return
        if self._is_young(path):
            self.late_names += 1
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if self._chance.random() < self._stale:
            self.stale_handles += 1
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)

    def _is_young(self, path: str, *, content: bool = False) -> bool:
        """Whether a graph's folder was renamed to where it is by another client, lately."""
        parts = path[len(self._root) + 1 :].split("/") if path.startswith(f"{self._root}/") else []
        folder = "/".join((self._root, *parts[:2]))
        if len(parts) < 2 or parts[0].startswith(".") or folder in self._own:
            return False
        if folder not in self._lateness:
            self._lateness[folder] = self.lateness()
        try:
            return time.time() - Path(folder).stat().st_ctime < self._lateness[folder][content]
        except FileNotFoundError:
            return False


class _Names:
    def __init__(self, items: list[os.DirEntry[str]]) -> None:
        self._items = items

    def __enter__(self) -> list[os.DirEntry[str]]:
        return self._items

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
