"""A precompilation from its command to the artifact, and everything that must not become one."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fleet.compile_cache import index, lease
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.lease import State, Terms
from tests.support.cold_bucket import Bucket
from tests.support.compiled_graphs import graph, is_whole, write
from tests.support.lease_tables import MemoryTable
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, CompilationFailedError
from workload.precompile.pipeline import PROMOTION_ATTEMPTS, Pipeline

LLAMA = Artifact("meta/llama", "r1", "2.30", (2048,))


class Container:
    """A node's tiers, with a compiler that ``does`` something and ends with a code."""

    def __init__(self, folder: Path, does: Callable[[Path], int]) -> None:
        (folder / "shared").mkdir()
        self.local, self.shared = LocalTier(folder / "local"), SharedTier(folder / "shared")
        self.table, self.bucket, self.slept = MemoryTable(), Bucket(), 0.0
        self.commands: list[Sequence[str]] = []
        self.does = does
        look = Lookup(self.local, self.shared)
        self.pipeline = Pipeline(
            look, self.table, ColdTier(self.bucket, self.shared, self.local), self._compile, self._sleep
        )

    def _compile(self, command: Sequence[str]) -> int:
        self.commands.append(command)
        return self.does(self.local.root)

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds

    def holds_nothing(self) -> bool:
        return not self.shared.listing() and not self.bucket.objects


def compiles(*numbers: int, code: int = 0) -> Callable[[Path], int]:
    def run(cache: Path) -> int:
        for number in numbers:
            write(graph(number), cache / str(graph(number)))
        return code

    return run


def fails(number: int, *files: str) -> Callable[[Path], int]:
    """One graph is compiled, and another is left with these files."""

    def run(cache: Path) -> int:
        compiles(1)(cache)
        folder = cache / str(graph(number))
        folder.mkdir(parents=True)
        for name in ("model.hlo_module.pb", *files):
            (folder / name).write_text("TilingError:\n  out of state buffer")
        return 0

    return run


def test_every_graph_is_promoted_and_archived_and_the_index_comes_last(tmp_path: Path) -> None:
    container = Container(tmp_path, compiles(1, 2))

    report = container.pipeline.run(LLAMA, ["torchrun", "train.py"])

    assert container.commands == [["torchrun", "train.py"]]
    assert (report.prefix, report.graphs, report.promoted, report.archived) == (LLAMA.prefix, 2, 2, 2)
    assert all(is_whole(graph(number), tmp_path / "shared" / str(graph(number))) for number in (1, 2))
    assert container.bucket.uploads[-1] == index.key(LLAMA)
    assert index.decode(container.bucket.objects[index.key(LLAMA)], LLAMA).graphs == (graph(1), graph(2))
    assert {row.state for row in container.table.rows.values()} == {State.DONE}


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (fails(2, "model.log"), "of 2 graphs 1 failed, such as .*MODULE_2.*: TilingError: out of state buffer"),
        (fails(2, "model.hlo_module.pb.lock"), "of 2 graphs 1 compiling, such as .*MODULE_2"),
        (fails(2), "of 2 graphs 1 incomplete"),
        (compiles(1, code=3), "neuron_parallel_compile ended with 3 after 1 graphs"),
        (compiles(), "no graph was compiled into .*--cache_dir"),
        (compiles(code=1), "ended with 1 after 0 graphs"),
    ],
)
def test_unless_every_graph_is_compiled_nothing_is_shared(
    tmp_path: Path, does: Callable[[Path], int], message: str
) -> None:
    container = Container(tmp_path, does)

    with pytest.raises(CompilationFailedError, match=message):
        container.pipeline.run(LLAMA, ["train.py"])

    assert container.holds_nothing()


def test_the_compilers_words_are_told_though_another_graph_has_none(tmp_path: Path) -> None:
    def run(cache: Path) -> int:
        # The first of them by name was interrupted, and has no log.
        return fails(0)(cache) or fails(2, "model.log")(cache)

    container = Container(tmp_path, run)
    with pytest.raises(CompilationFailedError, match=r"1 failed, 1 incomplete, such as .*TilingError: out of state"):
        container.pipeline.run(LLAMA, ["train.py"])


def test_a_folder_that_holds_other_graphs_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    container = Container(tmp_path, compiles(1))
    write(graph(9), tmp_path / "local" / str(graph(9)))

    with pytest.raises(CacheError, match="holds graphs already"):
        container.pipeline.run(LLAMA, ["train.py"])

    assert container.commands == []


def test_a_graph_that_a_job_compiles_now_is_waited_for(tmp_path: Path) -> None:
    container = Container(tmp_path, compiles(1, 2))
    row = lease.take(None, "a job", 4e9, Terms())
    container.table.rows[graph(1)] = row
    naps = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        container.table.rows[graph(1)] = lease.release(row, 4e9)

    object.__setattr__(container.pipeline, "sleep", sleep)

    assert container.pipeline.run(LLAMA, ["train.py"]).promoted == 2
    assert len(naps) == 1


def test_a_graph_that_cannot_be_promoted_makes_no_artifact(tmp_path: Path) -> None:
    container = Container(tmp_path, compiles(1, 2))
    container.table.rows[graph(1)] = lease.take(None, "a job", 4e9, Terms())

    with pytest.raises(CacheError, match=r"1 graphs could not be promoted, such as .*MODULE_1.*somebody else"):
        container.pipeline.run(LLAMA, ["train.py"])

    assert container.slept == 65.0 * (PROMOTION_ATTEMPTS - 1)
    assert container.bucket.objects == {}


def test_an_archive_that_is_cut_short_has_no_index(tmp_path: Path) -> None:
    container = Container(tmp_path, compiles(1, 2))
    container.bucket.fails_at = graph(2).module

    with pytest.raises(CacheError, match="SlowDown"):
        container.pipeline.run(LLAMA, ["train.py"])

    assert index.key(LLAMA) not in container.bucket.objects
