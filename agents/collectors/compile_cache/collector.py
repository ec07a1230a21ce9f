"""The minute of the compile cache: graphs compiled, failed, found; and what its folder has come to.

Counts come from the cache's files. A compilation counts in the minute in which it ends, with all of its seconds. A miss
is counted when a compilation is first seen, because nothing is compiled that was found. Hits leave no trace in the
files, except for graphs that were copied here from another cache; the others are counted where the agent is told
which logs to read. Without any such evidence the hits are absent, not zero.

Where the cache is on a shared file system, other nodes' compilations show in it too: they count here only while a
compiler is seen on this host. Short ones are then missed, and none is counted twice.
"""

from pathlib import Path
from typing import Any, Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.compile_cache.changes import Changes
from agents.collectors.compile_cache.log_lines import LogTail
from agents.collectors.compile_cache.scan import CacheScan
from fleet import metrics
from fleet.metrics import MetricSpec
from workload.compile_cache.compilers import compiler_pids
from workload.compile_cache.entry import State
from workload.compile_cache.file_system import SHARED, file_system

_SECOND: Final = 1_000_000_000
# A compiler that was killed leaves its lock behind, and everybody else waits for ever. With no compiler on the host a
# lock should be gone at once; this is for processes that are between two steps.
STALE_SECONDS: Final = 600


class CompileCacheCollector:
    """Looks at the cache in ``root``, at the compilers below ``proc``, and at the ``logs`` (a glob; empty: none)."""

    name = "compile cache"

    def __init__(self, root: str, proc: Path, logs: str = "") -> None:
        self._root, self._proc = Path(root), proc
        self._scan = CacheScan(self._root)
        self._logs = LogTail(logs) if logs else None
        self._had_compilers = False
        self._has_looked = False

    def collect(self, request: Request) -> Contribution:
        """What happened since the last call. The first call takes stock, and knows of no minute."""
        knows, self._has_looked = self._has_looked, True
        lines = self._logs.count() if self._logs else None
        changes = self._scan.step(int(request.now * _SECOND))
        if changes is None:
            return Contribution(metrics={} if lines is None or not knows else {metrics.COMPILE_CACHE_HITS: lines.hits})
        compilers = bool(compiler_pids(self._proc))
        is_shared = file_system(self._proc, self._root) in SHARED
        is_ours = not is_shared or compilers or self._had_compilers
        self._had_compilers = compilers
        locks = [lock for entry in self._scan.entries() if (lock := entry.lock) and entry.state is State.COMPILING]
        ages = sorted((request.now - lock / _SECOND for lock in locks), reverse=True)
        stale = [age for age in ages if age > STALE_SECONDS] if not compilers else []
        counts: dict[MetricSpec, float] = _counts(changes) if is_ours and knows else {}
        hits = [changes.fetched] if changes.fetched else []
        hits += [lines.hits] if lines is not None and knows else []
        if hits:
            counts[metrics.COMPILE_CACHE_HITS] = sum(hits)
        event = self._event(changes, stale, is_shared=is_shared)
        if lines is not None and lines.failed_hits:
            event["failures_found"] = lines.failed_hits
        return Contribution(
            metrics=counts,
            event={"compile_cache": event},
            # On a shared cache a lock without a compiler on this host is somebody else's, or nobody's.
            compiling=is_ours and (len(ages) > len(stale) or changes.is_active),
            waits_for_lock=is_shared and not compilers and bool(ages),
            problems=(*_stale(stale, is_shared=is_shared), *(f"compile cache: {each}" for each in self._scan.problems)),
        )

    def _event(self, changes: Changes, stale: list[float], *, is_shared: bool) -> dict[str, Any]:
        event: dict[str, Any] = {state.value: count for state, count in self._scan.count().items()}
        event["bytes"] = sum(entry.size for entry in self._scan.entries())
        event["versions"] = self._scan.versions
        for name, value in (
            ("stale_locks", len(stale)),
            ("fetched", changes.fetched),
            ("seconds_waited", round(changes.waited, 3)),
            ("not_looked_at", self._scan.unread),
            ("is_shared", is_shared),
        ):
            if value:
                event[name] = value
        return event


def _counts(changes: Changes) -> dict[MetricSpec, float]:
    return {
        metrics.COMPILATION_EVENTS: changes.compiled,
        metrics.COMPILATION_SECONDS: round(changes.seconds, 3),
        metrics.COMPILE_CACHE_MISSES: changes.missed,
        metrics.COMPILE_FAILURES: changes.failed,
    }


def _stale(ages: list[float], *, is_shared: bool) -> tuple[str, ...]:
    if not ages:
        return ()
    where = "; the cache is shared, so it may run on another host" if is_shared else ""
    held = f"{len(ages)} locks are held by nobody, the oldest for {ages[0] / 60:.0f} min"
    return (f"compile cache: {held}: no compiler runs on this host{where}",)
