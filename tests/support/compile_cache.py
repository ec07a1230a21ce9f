"""A compile cache whose files have the times that a test gives them."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.compile_cache.collector import CompileCacheCollector
from fleet import metrics
from fleet.compile_cache import manifest
from fleet.compile_cache.graph import FLIGHT_FOLDER

# When a test's node is looked at first, unix seconds.
T: Final = 1_795_230_000.0
SECOND: Final = 1_000_000_000
_COUNTS: Final = (
    metrics.COMPILATION_EVENTS,
    metrics.COMPILATION_SECONDS,
    metrics.COMPILE_CACHE_MISSES,
    metrics.COMPILE_FAILURES,
)


@dataclass(frozen=True)
class CacheFolder:
    """The cache at ``root``. Times are unix seconds."""

    root: Path
    version: str = "neuronxcc-2.21.18209.0+043b1bf7"

    def graph(self, number: int) -> Path:
        """The folder of a graph, made if need be."""
        folder = self.root / self.version / f"MODULE_{number}+abcd1234"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, number: int, at: float, *names: str, size: int = 0) -> None:
        """Write files of a graph."""
        for name in names:
            path = self.graph(number) / name
            path.write_bytes(b"x" * size)
            os.utime(path, (at, at))

    def begin(self, number: int, at: float) -> None:
        """A compilation begins."""
        self.put(number, at, "model.hlo_module.pb", "compile_flags.json", "model.hlo_module.pb.lock")

    def finish(self, number: int, at: float, size: int = 100) -> None:
        """It ends well."""
        self.put(number, at, "model.neff", size=size)
        self.put(number, at, "model.done")
        self.unlock(number)

    def fail(self, number: int, at: float) -> None:
        """It fails."""
        self.put(number, at, "model.log")
        self.unlock(number)

    def was_fetched(self, number: int) -> None:
        """Who stands before the compiler has it from the shared tier, with its manifest."""
        kept = self.root / FLIGHT_FOLDER / self.version / self.graph(number).name
        kept.mkdir(parents=True)
        (kept / manifest.NAME).touch()

    def unlock(self, number: int) -> None:
        """The lock is released."""
        (self.graph(number) / "model.hlo_module.pb.lock").unlink(missing_ok=True)

    def compiled(self, number: int, start: float, end: float, size: int = 100) -> None:
        """A whole compilation."""
        self.begin(number, start)
        self.finish(number, end, size)


class CacheNode:
    """A cache, a /proc, and the collector that looks at both once a minute from ``T`` on."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        self.proc.mkdir()
        self.logs = folder / "logs"
        self.cache = CacheFolder(folder / "cache")
        self.collector = CompileCacheCollector(str(self.cache.root), self.proc, str(self.logs / "*.log"))
        self._minute = 0

    def minute(self) -> Contribution:
        """The next minute's contribution."""
        seen = self.collector.collect(Request(T + 60 * self._minute))
        self._minute += 1
        return seen

    def compiler(self, *, runs: bool) -> None:
        """Start or end a compiler."""
        folder = self.proc / "77"
        if not runs:
            shutil.rmtree(folder)
            return
        folder.mkdir()
        (folder / "comm").write_text("neuronx-cc\n")

    def mount(self, kind: str) -> None:
        """Put the cache on a file system of this type."""
        (self.proc / "self").mkdir()
        lines = f"/dev/root / ext4 rw 0 0\nfs-1:/ {self.cache.root} {kind} rw 0 0\nx {self.cache.root}-2 tmpfs rw 0 0\n"
        (self.proc / "self/mounts").write_text(lines)


def figures(seen: Contribution) -> tuple[float, ...]:
    """Compiled, seconds, misses, failures."""
    return tuple(seen.metrics[spec] for spec in _COUNTS)
