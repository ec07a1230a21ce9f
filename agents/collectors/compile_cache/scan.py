"""Looks through the cache a little every minute: 20,000 graphs must not cost the node a second each time.

A folder's modification time tells whether graphs came or went, so an unchanged list is not read again. Graphs that may
still change are looked at every minute, finished ones in turn. What time does not suffice for is left for the next
minute. Nothing outside the cache's own two levels of folders is looked at, and no link is followed.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from agents.collectors.compile_cache.changes import Changes
from agents.collectors.compile_cache.version import Version
from workload.compile_cache.entry import Entry, State

_VERSION: Final = re.compile(r"(?:USER_)?neuronx?cc-(?P<version>[\w.+-]{1,64})")
_MOST_VERSIONS: Final = 20
MOST_GRAPHS: Final = 50_000
# Real seconds for graphs that may still change, and again for new ones.
_BUDGET: Final = 0.1
_SETTLED_A_MINUTE: Final = 500


class CacheScan:
    """The state of the cache below ``root`` as far as it is known. Times are nanoseconds."""

    def __init__(self, root: Path, elapsed: Callable[[], float] = time.monotonic, budget: float = _BUDGET) -> None:
        self._root = root
        self._elapsed = elapsed
        self._budget = budget
        self._versions: dict[str, Version] = {}
        self._last: int | None = None
        self._turn = 0
        self.problems: tuple[str, ...] = ()

    def step(self, now: int) -> Changes | None:
        """Look once; what happened since the last time, None where there is no cache.

        Raises:
            OSError: the cache is there and its folder cannot be listed.
        """
        since = now if self._last is None else self._last
        self._last = now
        self.problems = ()
        try:
            folders = _version_folders(self._root)
        except (FileNotFoundError, NotADirectoryError):
            self._versions.clear()
            return None
        for name in self._versions.keys() - folders.keys():
            del self._versions[name]
        changes = Changes()
        for name, folder in folders.items():
            version = self._versions.setdefault(name, Version(folder))
            with self._guard(name):
                if version.list(since, now, MOST_GRAPHS - self._tracked()):
                    self._problem(f"more than {MOST_GRAPHS} graphs; the rest is not looked at")
        self._look(self._open(), now, changes)
        self._look(self._new(), now, changes)
        self._look(self._settled(), now, changes)
        return changes

    @property
    def versions(self) -> list[str]:
        """Compiler versions that have compiled into this cache."""
        found = {match["version"] for name in self._versions if (match := _VERSION.fullmatch(name))}
        return sorted(found)

    @property
    def unread(self) -> int:
        """Graphs that are there and were not looked at yet."""
        return sum(len(version.unread) for version in self._versions.values())

    def entries(self) -> Iterator[Entry]:
        """All graphs that were looked at."""
        for version in self._versions.values():
            for graph in version.graphs.values():
                yield graph.entry

    def count(self) -> Counter[State]:
        """Graphs by state."""
        return Counter(entry.state for entry in self.entries())

    def _tracked(self) -> int:
        return sum(len(version.graphs) + len(version.unread) for version in self._versions.values())

    def _open(self) -> Iterator[tuple[Version, str]]:
        found = [
            (version, name)
            for version in self._versions.values()
            for name, graph in version.graphs.items()
            if graph.entry.state is not State.SUCCEEDED
        ]
        # Where the last minute's time ended, this one's begins.
        start = self._turn % len(found) if found else 0
        for each in (*found[start:], *found[:start]):
            self._turn += 1
            yield each

    def _new(self) -> Iterator[tuple[Version, str]]:
        for version in self._versions.values():
            for name in list(version.unread):
                yield version, name

    def _settled(self) -> Iterator[tuple[Version, str]]:
        for version in self._versions.values():
            for _ in range(min(_SETTLED_A_MINUTE, len(version.graphs))):
                if not version.turns:
                    version.turns.extend(version.graphs)
                name = version.turns.popleft()
                graph = version.graphs.get(name)
                if graph is not None and graph.entry.state is State.SUCCEEDED and version.has_changed(name):
                    yield version, name

    def _look(self, graphs: Iterable[tuple[Version, str]], now: int, changes: Changes) -> None:
        ends = self._elapsed() + self._budget
        for version, name in graphs:
            with self._guard("a graph"):
                version.look(name, now, changes)
            if self._elapsed() > ends:
                return

    @contextmanager
    def _guard(self, what: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            # Gone since it was listed; the next minute's list says so.
            return
        except OSError as error:
            self._problem(f"{what}: {error.strerror or error}")

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems = (*self.problems, text)


def _version_folders(root: Path) -> dict[str, Path]:
    with os.scandir(root) as found:
        names = sorted(
            item.name for item in found if _VERSION.fullmatch(item.name) and item.is_dir(follow_symlinks=False)
        )
    # The newest sort last.
    return {name: root / name for name in islice(reversed(names), _MOST_VERSIONS)}
