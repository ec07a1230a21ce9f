"""One compilation that was asked for: from the fleet if somebody has it or is at work on it, else by the compiler.

The processes of one node share a local tier of their own, and a lock for each graph. The compiler's folder cannot be
that tier: while the compiler is asked for a graph, whoever asks holds the lock of that graph there. The lock here is
``flock``, which ends with the process that holds it. It is on local disk, as the tier is.
"""

import fcntl
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.figures import Obtained, Source
from fleet.compile_cache.graph import FLIGHT_FOLDER, Graph
from workload.compile_cache.compiler.arguments import Compilation
from workload.compile_cache.compiler.real import RealCompiler
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.flight.single_flight import CompileCache
from workload.compile_cache.settings import Settings
from workload.compile_cache.tiers import content, files
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.tiers.store import Ready, Store
from workload.errors import CompilationFailedError, MissError, NothingToKeepError

# What the compiler itself ends with ("neuronx-cc compilation failed with 70", public reports about vLLM on Neuron).
REFUSED: Final = 70
NEFF: Final = "model.neff"
_FLAGS: Final = "compile_flags.json"
_LOCKS: Final = "locks"
# Long before, who asked has it in the compiler's folder, and the agent has counted it.
_KEPT_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """``compilation`` is what ``arguments`` say. ``graph`` is its name, with the version of the ``compiler``.

    ``ready``: the bucket, where there is one.
    """

    settings: Settings
    compilation: Compilation
    graph: Graph
    arguments: Sequence[str]
    compiler: RealCompiler
    table: LeaseTable
    ready: Ready | None = None

    def obtain(self) -> int:
        """See to it that the NEFF is where it is wanted; the exit code of that.

        Raises:
            CacheError, OSError: the cache cannot be used.
        """
        own = tier(self.settings.local)
        shared, on_miss = SharedTier(self.settings.shared), self.settings.on_miss
        store = Store(self.ready, own, _say) if self.ready is not None else None
        cache = CompileCache(own, shared, self.table, on_miss=on_miss, store=store)
        try:
            with only_one(own, self.graph):
                if not own.is_intact(self.graph):
                    own.discard(self.graph)
                obtained = cache.obtain(self.graph, lambda _: self._compile(own))
        except (CompilationFailedError, MissError) as error:
            if self.compiler.code is not None:
                # It has said so itself.
                return self.compiler.code
            _say(str(error))
            return REFUSED
        except NothingToKeepError:
            return self.compiler.code or 0
        if self.compiler.code is None:
            self._hand_over(own.folder(self.graph))
        _report(self.graph, obtained)
        sweep(own)
        return 0

    def _compile(self, own: LocalTier) -> None:
        """Run the compiler just as it was asked for, and keep a copy of what it makes."""
        code = self.compiler.run(self.arguments)
        if self.compiler.was_killed:
            raise NothingToKeepError
        if code:
            raise CompilationFailedError(self.compiler.last_words or f"the compiler ended with {code}")
        source, target = self.compilation.source, self.compilation.target
        if not target.is_file():
            raise NothingToKeepError
        arrived = own.new_folder()
        files.make_folder(arrived)
        # Through to the disk: nothing else would tell a file that a power failure has emptied.
        _copy(source, f"{arrived}/model.{'.'.join(source.name.rsplit('.', 2)[1:])}", through=True)
        flags = self.settings.local / self.graph.version / self.graph.module / _FLAGS
        with suppress(FileNotFoundError):
            _copy(flags, f"{arrived}/{_FLAGS}", through=True)
        _copy(target, f"{arrived}/{NEFF}", through=True)
        files.write_new(f"{arrived}/{manifests.DONE_MARKER}", b"", through=True)
        own.accept(self.graph, arrived)

    def _hand_over(self, folder: Path) -> None:
        target = self.compilation.target
        arriving = target.with_name(f"{target.name}.{uuid4().hex}")
        _copy(folder / NEFF, str(arriving), through=False)
        arriving.replace(target)


def _copy(source: Path, target: str, *, through: bool) -> None:
    content.copy(str(source), target, source.stat().st_size, through=through)


def _report(graph: Graph, obtained: Obtained) -> None:
    if obtained.problem:
        _say(obtained.problem)
    if obtained.source in {Source.LOCAL, Source.FETCHED, Source.RESTORED}:
        _say(f"{graph}: {obtained.source.value}, {obtained.waited:.1f} s after it was asked for")


def _say(text: str) -> None:
    sys.stderr.write(f"neuron-fleet: {text}\n")


def tier(local: Path) -> LocalTier:
    """Beside the graphs in ``local``, the compiler's folder: all containers of a node have that mounted.

    Raises:
        CacheError: it is on a network file system, or cannot be made.
    """
    return LocalTier(local / FLIGHT_FOLDER)


@contextmanager
def only_one(own: LocalTier, graph: Graph) -> Iterator[None]:
    """Held by one process of this node at a time. Raises OSError."""
    folder = own.own / _LOCKS
    folder.mkdir(exist_ok=True)
    with (folder / hashlib.sha256(str(graph).encode()).hexdigest()).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sweep(own: LocalTier) -> None:
    """Remove what nobody asks for any more, and what killed processes left; trouble with it is the next one's."""
    oldest = time.time() - _KEPT_SECONDS
    with suppress(OSError):
        for graph in own.graphs():
            if own.folder(graph).stat().st_mtime < oldest:
                own.discard(graph)
        for path in own.own.iterdir():
            if path.name != _LOCKS and path.stat().st_mtime < oldest:
                files.remove_tree(str(path))
