"""Processes of the host, as ``/proc`` shows them. Each read is bounded: environments are as large as people make them.

Formats: proc(5). Everything here may vanish between two reads; what has gone reads as nothing.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Linux allows 128 KiB for one variable and megabytes for all; schedulers set theirs first.
_LARGEST_ENVIRONMENT: Final = 256 * 1024
_LARGEST_FILE: Final = 16 * 1024
# A trainer is a few shells and launchers below what started it.
_GENERATIONS: Final = 8


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes below ``proc``."""

    proc: Path

    def is_alive(self, pid: int) -> bool:
        """Whether it runs: a zombie has ended, and only its parent does not know it yet."""
        # Not Paths here, which would keep a name for each process that ever was: see workload.durable_file.
        if not os.path.isdir(f"{self.proc}/{pid}"):  # noqa: PTH112 - see above
            return False
        status = self._status(pid)
        return not status or status[0] not in "ZXx"

    def lineage(self, pid: int) -> Iterator[int]:
        """``pid``, its parent, and so on, without the first process of the host."""
        for _ in range(_GENERATIONS):
            yield pid
            status = self._status(pid)
            if len(status) < 2 or not status[1].isdecimal() or int(status[1]) <= 1:
                return
            pid = int(status[1])

    def environment(self, pid: int) -> Mapping[str, str]:
        """The environment that the process was started with.

        Raises:
            PermissionError: it belongs to somebody whose environment the agent may not read.
        """
        data = self._read(pid, "environ", _LARGEST_ENVIRONMENT)
        pairs = (entry.decode("utf-8", "replace").partition("=") for entry in data.split(b"\0") if entry)
        return {name: value for name, _, value in pairs}

    def cgroups(self, pid: int) -> tuple[str, ...]:
        """The paths of its control groups: one with cgroup v2, one for each hierarchy with v1."""
        # hierarchy:controllers:path
        lines = self._text(pid, "cgroup").splitlines()
        return tuple(dict.fromkeys(line.split(":", 2)[2] for line in lines if line.count(":") >= 2))

    def file(self, pid: int, path: str, limit: int) -> bytes:
        """At most ``limit`` bytes of the regular file that the process calls ``path``.

        Raises:
            OSError: there is none, or it is not for the agent to read.
        """
        # A workload chooses the path: it must not make the agent wait at a pipe, or read what a link points to.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(f"{self.proc}/{pid}/root/{path.lstrip('/')}", flags)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileNotFoundError(path)
            return file.read(limit)

    def _status(self, pid: int) -> list[str]:
        # "7 (a name) S 1 ...": the name may hold blanks and brackets, so what follows is cut off behind the last one.
        return self._text(pid, "stat").rpartition(")")[2].split()[:2]

    def _text(self, pid: int, name: str) -> str:
        try:
            return self._read(pid, name, _LARGEST_FILE).decode("utf-8", "replace")
        except PermissionError:
            # /proc is mounted with hidepid: that there is a process is all there is to see.
            return ""

    def _read(self, pid: int, name: str, limit: int) -> bytes:
        try:
            with open(f"{self.proc}/{pid}/{name}", "rb") as file:  # noqa: PTH123 - as in is_alive
                return file.read(limit)
        except PermissionError:
            raise
        except OSError:
            return b""
