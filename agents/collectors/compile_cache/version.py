"""One compiler version's folder in the cache: which graphs it holds, and which of them are new."""

import os
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from agents.collectors.compile_cache.changes import Changes, Graph, first_seen, seen_again
from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import FLIGHT_FOLDER
from workload.compile_cache.entry import Entry, State, read

_SECOND: Final = 1_000_000_000
_GRAPH: Final = "MODULE_"
# A folder that changed this recently may have changed again in the same tick of the file system's clock.
_SETTLING: Final = 2 * _SECOND
# NFS shows a new entry up to a minute late.
_LATENESS: Final = 90 * _SECOND


@dataclass(slots=True)
class Version:
    """``unread`` are graphs that were not looked at yet: since when they may be there, and whether from the start.

    ``turns`` is the order in which finished graphs are looked at again.
    """

    folder: Path
    listed: int | None = None
    graphs: dict[str, Graph] = field(default_factory=dict)
    unread: dict[str, tuple[int, bool]] = field(default_factory=dict)
    turns: deque[str] = field(default_factory=deque)

    def list(self, since: int, now: int, room: int) -> bool:
        """Read the list of graphs if it has changed; whether there were more than ``room`` new ones.

        ``since`` is when the cache was looked at last. Raises OSError when the folder cannot be listed.
        """
        changed = self.folder.stat(follow_symlinks=False).st_mtime_ns
        if changed == self.listed:
            return False
        is_baseline = self.listed is None
        with os.scandir(self.folder) as found:
            names = {item.name for item in found if item.name.startswith(_GRAPH) and item.is_dir(follow_symlinks=False)}
        for known in (self.graphs, self.unread):
            for name in known.keys() - names:
                del known[name]
        new = sorted(names - self.graphs.keys() - self.unread.keys())
        appeared = since if is_baseline else since - _LATENESS
        self.unread.update(dict.fromkeys(new[: max(0, room)], (appeared, is_baseline)))
        self.listed = changed if now - changed > _SETTLING else -1
        return len(new) > room

    def look(self, name: str, now: int, into: Changes) -> None:
        """Look at one graph's files. Raises OSError when they cannot be read."""
        entry = self._read(name)
        known, new = self.graphs.get(name), self.unread.pop(name, None)
        if entry is None:
            self.graphs.pop(name, None)
        elif known is not None:
            seen_again(known, entry, now, into)
        elif new is not None:
            since, is_baseline = new
            self.graphs[name] = first_seen(entry, since, now, is_baseline=is_baseline, into=into)

    def _read(self, name: str) -> Entry | None:
        entry = read(self.folder / name)
        if entry is None or entry.state is not State.SUCCEEDED:
            return entry
        # What stands before the compiler keeps what it fetched for a day, with its manifest.
        manifest = self.folder.parent / FLIGHT_FOLDER / self.folder.name / name / manifests.NAME
        return replace(entry, is_fetched=True) if manifest.exists() else entry

    def has_changed(self, name: str) -> bool:
        """Whether files were added to a known graph or removed since it was looked at."""
        try:
            folder = (self.folder / name).stat(follow_symlinks=False)
        except OSError:
            return True
        return folder.st_mtime_ns != self.graphs[name].entry.folder
