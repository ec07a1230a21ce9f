"""The local tier: the compiler's own folder, on a disk of this machine.

It is refused on a network file system: the compiler's locks do not hold there, and AWS documents damaged files and
KeyErrors (Neuron documentation, "Training troubleshooting": one cache folder for each host).
"""

import itertools
import os
import time
from pathlib import Path
from typing import Final
from uuid import uuid4

from fleet.compile_cache import graph as graphs
from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import Graph
from workload.compile_cache.compilers import compiler_pids
from workload.compile_cache.entry import State, read
from workload.compile_cache.file_system import SHARED, file_system
from workload.compile_cache.tiers import content, files
from workload.errors import CacheError

OWN: Final = ".neuron-fleet"
_NETWORK: Final = SHARED | {"efs", "nfs3", "cifs", "ceph", "fuse.s3fs", "fuse.mountpoint-s3"}
# A lock outlives a compiler that was killed. Where no compiler runs, one this old is not of a process between two
# steps; where others run, one this old is only believed if a compiler names the graph on its command line.
STALE_SECONDS: Final = 60
STALE_AMONG_OTHERS_SECONDS: Final = 600
_PROC: Final = Path("/proc")


class LocalTier:
    """The folder ``root``, made if need be. ``proc`` says what it is mounted on, and which compilers run.

    Raises:
        CacheError: it is on a network file system, or cannot be made.
    """

    def __init__(self, root: Path, proc: Path = _PROC) -> None:
        self.root, self.proc, self.own = root, proc, root / OWN
        self._root, self._own = str(root), str(self.own)
        # Containers may have the same pids; a random name for each graph would cost more than a small file's copy.
        self._secret, self._numbers = uuid4().hex, itertools.count()
        self._versions: set[str] = set()
        kind = file_system(proc, root)
        if kind in _NETWORK:
            raise CacheError(
                f"{root}: on {kind}, where the compiler's locks do not hold; put the local cache on local disk"
            )
        try:
            self.own.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheError(f"{root}: cannot be made: {error.strerror}") from error

    def folder(self, graph: Graph) -> Path:
        """Where the compiler puts this graph."""
        return self.root / graph.version / graph.module

    def state(self, graph: Graph) -> State | None:
        """What its files amount to; None when there are none. Raises OSError."""
        entry = read(self.folder(graph))
        return entry.state if entry is not None else None

    def has(self, graph: Graph) -> bool:
        """Whether it is here and compiled. Raises OSError."""
        return self.state(graph) is State.SUCCEEDED

    def new_folder(self) -> str:
        """A name for a graph that is on its way here."""
        return f"{self._own}/{os.getpid()}.{self._secret}.{next(self._numbers)}"

    def accept(self, graph: Graph, arrived: str) -> bool:
        """Show a graph that has arrived; where a compiled one is already, that one stays.

        False when a compiler is at work on it here: a folder is not taken away under it.

        Raises:
            OSError: the disk fails.
        """
        version = f"{self._root}/{graph.version}"
        if version not in self._versions:
            files.have_folder(version)
            self._versions.add(version)
        while not files.move_new(arrived, f"{version}/{graph.module}"):
            is_here, is_busy = self.has(graph), self.is_being_compiled(graph)
            if is_here or is_busy:
                files.remove_tree(arrived)
                return is_here
            # A compilation that was interrupted or failed.
            self.discard(graph)
        return True

    def discard(self, graph: Graph) -> None:
        """Remove it: out of sight by one rename. Raises OSError."""
        grave = self.new_folder()
        try:
            files.move_new(str(self.folder(graph)), grave)
        except FileNotFoundError:
            return
        files.remove_tree(grave)

    def clear(self, graph: Graph) -> bool:
        """Remove what would keep the compiler from compiling it: a failure that it remembers, or a lock of a dead one.

        The compiler never retries a failure that it finds in its cache, and waits for a lock for ever. Raises OSError.
        """
        state = self.state(graph)
        if state is not State.FAILED and (state is not State.COMPILING or self.is_being_compiled(graph)):
            return False
        self.discard(graph)
        return True

    def is_being_compiled(self, graph: Graph) -> bool:
        """Whether its lock is that of a compiler which runs. Raises OSError."""
        entry = read(self.folder(graph))
        if entry is None or entry.state is not State.COMPILING or entry.lock is None:
            return False
        age, running = time.time() - entry.lock / 1e9, compiler_pids(self.proc)
        if age <= (STALE_AMONG_OTHERS_SECONDS if running else STALE_SECONDS):
            return True
        return any(graph.module.encode() in self._command(pid) for pid in running)

    def graphs(self) -> list[Graph]:
        """Every graph that has a folder here. Raises OSError."""
        return [
            Graph(version, module)
            for version in files.names(str(self.root))
            if graphs.is_version(version)
            for module in files.stamps(f"{self.root}/{version}")
            if graphs.is_module(module)
        ]

    def is_intact(self, graph: Graph) -> bool:
        """Whether a fetched graph still is what it was when it came; a power failure may have emptied its files.

        One that was compiled here has no manifest, and is taken as it is.
        """
        folder = self.folder(graph)
        if not (folder / manifests.NAME).exists():
            return True
        try:
            manifest = manifests.decode(files.read_small(f"{folder}/{manifests.NAME}", manifests.MOST_BYTES))
            return all(
                content.measure(f"{folder}/{record.name}") == (record.size, record.digest) for record in manifest.files
            )
        except (OSError, manifests.ManifestError):
            return False

    def _command(self, pid: int) -> bytes:
        try:
            return (self.proc / str(pid) / "cmdline").read_bytes()
        except OSError:
            # It has ended, or is another user's.
            return b""
