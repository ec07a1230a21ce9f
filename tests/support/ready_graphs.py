"""What is ready in S3, in memory, for a node that may read objects by their names."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from tests.support.cold_bucket import Bucket
from tests.support.compiled_graphs import graph, write
from tests.support.lease_tables import MemoryTable
from workload.compile_cache.flight.single_flight import CompileCache, OnMiss
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.tiers.store import REMEMBERED, Store
from workload.errors import ColdTierError

LLAMA = Artifact("meta/llama", "r1", "2.20.0", (128, 256))


class ReadyBucket(Bucket):
    """``asked`` has every key. ``is_down`` refuses everything; ``stands_still`` never answers in time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.is_down = self.stands_still = False
        self.on_block: Callable[[], None] = lambda: None

    def archive(self, folder: Path, *graphs: Graph, artifact: Artifact = LLAMA) -> None:
        """What a precompilation leaves of ``graphs``, worked at in ``folder``."""
        (folder / "shared").mkdir(parents=True)
        shared = SharedTier(folder / "shared")
        for each in graphs:
            write(each, folder / "compiled")
            staged = promotion.stage(shared, each, str(folder / "compiled"), token=4, seconds=600.0, holder="node-1")
            promotion.publish(shared, staged)
        ColdTier(self, shared, LocalTier(folder / "local")).archive(artifact, graphs)

    def fetch(self, key: str, path: Path, end: float) -> bool:
        """As ``adapters.ReadyObjects``, in two blocks."""
        self.asked.append(key)
        if self.is_down:
            raise ColdTierError(f"{key}: Could not connect to the endpoint URL")
        while self.stands_still and time.monotonic() < end + 10:
            time.sleep(0.01)
        if key not in self.objects:
            return False
        content = self.objects[key]
        with path.open("wb") as target:
            for block in (content[: len(content) // 2], content[len(content) // 2 :]):
                target.write(block)
                target.flush()
                self.on_block()
        return True


class Node:
    """A node with its own tier, and a bucket that holds graph 1; the shared tier is empty."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[str]()
        self.bucket, self.table = ReadyBucket(), MemoryTable()
        self.bucket.archive(folder / "elsewhere", graph(1))
        (folder / "shared").mkdir()
        self.shared, self.local = SharedTier(folder / "shared"), LocalTier(folder / "local")
        self.store = Store(self.bucket, self.local, self.said.append, longest=timedelta(seconds=10))

    def cache(self, on_miss: OnMiss = OnMiss.WAIT) -> CompileCache:
        """As another process of the node has it."""
        return CompileCache(self.local, self.shared, self.table, on_miss=on_miss, store=self.store)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left of what was on its way."""
        return {path.name for path in self.local.own.iterdir()} <= {"store"}

    def forget(self) -> None:
        """Time passes: what the node remembers of S3 is old."""
        old = time.time() - REMEMBERED.total_seconds() - 1
        for path in (self.local.own / "store").iterdir():
            os.utime(path, (old, old))
