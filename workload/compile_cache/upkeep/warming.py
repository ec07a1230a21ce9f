"""Warm-up: everything that the shared tier has for this node's compilers, onto local disk, before the job starts.

A version whose two folders are as the last warm-up left them needs no look into them, so a second one costs next to
nothing. After a reboot every fetched graph is compared with its manifest first.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

from fleet.compile_cache import graph as graphs
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import files
from workload.compile_cache.upkeep import warm_record
from workload.compile_cache.upkeep.warm_record import Stamp, VersionRecord
from workload.errors import CacheError, DamagedGraphError

WORKERS: Final = 16
# Threads hide waiting for a server. Where the first task waited for less than this share of its time, there is none to
# hide, and threads that all want the interpreter are slower than one.
_WAITING: Final = 0.7
# One task of the pool: large enough that handing it over costs nothing, small enough that all end together.
_TASK: Final = 16
# A folder that changed this recently may change again with the same time: file servers' clocks have coarse ticks.
_SETTLING: Final = 2_000_000_000
_MOST_PROBLEMS: Final = 20


@dataclass(slots=True)
class WarmReport:
    """Graphs, bytes and seconds. ``seconds_saved`` is what compiling the fetched graphs took; ``problems`` in words."""

    fetched: int = 0
    unchanged: int = 0
    failed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    seconds_saved: float = 0.0
    problems: tuple[str, ...] = ()

    def add(self, result: Manifest | str | None) -> None:
        """Count a graph that was fetched, could not be (why), or was here (None)."""
        if isinstance(result, Manifest):
            self.fetched += 1
            self.bytes += result.size
            self.seconds_saved += result.seconds
        elif result is None:
            self.unchanged += 1
        else:
            self.failed += 1
            if len(self.problems) < _MOST_PROBLEMS:
                self.problems = (*self.problems, result)


def warm(look: Lookup, versions: Collection[str] | None = None, workers: int = WORKERS) -> WarmReport:
    """Fetch what is missing, of these compiler ``versions`` or of all, with that many ``workers`` at a time.

    A graph that cannot be fetched is reported, and is a miss later.

    Raises:
        CacheError: the shared tier cannot be listed, or the record not be written.
    """
    started = time.monotonic()
    report = WarmReport()
    boot = warm_record.boot_id(look.local.proc)
    known = warm_record.load(look.local.own, boot)
    try:
        shown = files.stamps(str(look.shared.root))
        wanted = {name: stamp for name, stamp in shown.items() if graphs.is_version(name)}
        records = {}
        with ThreadPoolExecutor(workers, thread_name_prefix="warm") as pool:
            for version in sorted(wanted if versions is None else wanted.keys() & set(versions)):
                before = None if known is None else known.get(version, VersionRecord())
                work = _Version(look, version, wanted[version], before)
                records[version] = work.warm(pool, report)
        if records != known:
            warm_record.save(look.local.own, boot, (known or {}) | records)
    except OSError as error:
        raise CacheError(f"warm-up: {error}") from error
    report.seconds = time.monotonic() - started
    return report


@dataclass(frozen=True, slots=True)
class _Version:
    """One compiler version's warm-up. ``stamp`` is its folder's in the shared tier; ``known`` None after a reboot."""

    look: Lookup
    version: str
    stamp: Stamp
    known: VersionRecord | None

    def warm(self, pool: ThreadPoolExecutor, report: WarmReport) -> VersionRecord:
        here = files.stamp(f"{self.look.local.root}/{self.version}")
        if self.known is not None and here is not None and (self.known.shared, self.known.local) == (self.stamp, here):
            report.unchanged += len(self.known.graphs)
            return self.known
        shown = files.stamps(f"{self.look.shared.root}/{self.version}")
        modules = {module: stamp for module, stamp in shown.items() if graphs.is_module(module)}
        present = set(files.names(f"{self.look.local.root}/{self.version}"))
        have: dict[str, Stamp] = {}
        doubtful = []
        for module, stamp in modules.items():
            if self.known is not None and module in present and self.known.graphs.get(module) == stamp:
                have[module] = stamp
                report.unchanged += 1
            else:
                doubtful.append(module)
        for module, result in self._all(pool, sorted(doubtful), present):
            report.add(result)
            if not isinstance(result, str):
                have[module] = modules[module]
        is_settled = len(have) == len(modules) and time.time_ns() - self.stamp[1] > _SETTLING
        now = files.stamp(f"{self.look.local.root}/{self.version}")
        return VersionRecord(self.stamp if is_settled else None, now, have)

    def _all(
        self, pool: ThreadPoolExecutor, modules: Sequence[str], present: set[str]
    ) -> Iterator[tuple[str, Manifest | str | None]]:
        tasks = [modules[start : start + _TASK] for start in range(0, len(modules), _TASK)]
        if not tasks:
            return
        wall, own = time.perf_counter(), time.thread_time()
        yield from self._some(tasks[0], present)
        waited = 1 - (time.thread_time() - own) / (time.perf_counter() - wall)
        work = partial(self._some, present=present)
        for results in pool.map(work, tasks[1:]) if waited > _WAITING else map(work, tasks[1:]):
            yield from results

    def _some(self, modules: Sequence[str], present: set[str]) -> list[tuple[str, Manifest | str | None]]:
        return [(module, self._one(Graph(self.version, module), is_present=module in present)) for module in modules]

    def _one(self, graph: Graph, *, is_present: bool) -> Manifest | str | None:
        """The manifest of a graph that was fetched, None for one that was here, or why it could not be fetched."""
        try:
            if is_present and self.look.local.has(graph):
                if self.known is not None or self.look.local.is_intact(graph):
                    return None
                self.look.local.discard(graph)
            return self.look.fetch(graph) or f"{graph}: gone since it was listed, or being compiled here"
        except (DamagedGraphError, CacheError, OSError) as error:
            return str(error)
