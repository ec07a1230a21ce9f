"""The compiler's own folder: where it may be, and what is cleared out of the compiler's way."""

import os
import time
from pathlib import Path

import pytest

from tests.support.compiled_graphs import graph, is_whole, write
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.local import OWN, STALE_AMONG_OTHERS_SECONDS, STALE_SECONDS, LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError

GRAPH = graph(1)


def mounted(folder: Path, kind: str) -> Path:
    """A /proc that says the cache is on this kind of file system."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/self/mounts").write_text(f"/dev/root / ext4 rw 0 0\nfs-1:/ {folder}/cache {kind} rw 0 0\n")
    return folder / "proc"


@pytest.fixture
def tier(tmp_path: Path) -> LocalTier:
    return LocalTier(tmp_path / "cache", mounted(tmp_path, "xfs"))


def runs_compiler(tmp_path: Path, module: str) -> None:
    (tmp_path / "proc/77").mkdir()
    (tmp_path / "proc/77/cmdline").write_text(f"neuronx-cc\0compile\0/tmp/model.{module}.hlo_module.pb\0")
    (tmp_path / "proc/77/comm").write_text("neuronx-cc\n")


def locked(tier: LocalTier, seconds: float) -> None:
    """A compilation that began this long ago and has not ended."""
    lock = tier.folder(GRAPH) / "model.hlo_module.pb.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - seconds, time.time() - seconds))


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "efs", "lustre"])
def test_a_local_cache_on_a_network_file_system_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    with pytest.raises(CacheError, match=f"cache: on {kind}, where the compiler's locks do not hold") as refused:
        LocalTier(tmp_path / "cache", mounted(tmp_path, kind))

    assert "\n" not in str(refused.value)
    assert not (tmp_path / "cache").exists()


def test_a_link_to_a_network_file_system_is_no_way_around_it(tmp_path: Path) -> None:
    proc = mounted(tmp_path, "nfs4")
    (tmp_path / "cache").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "cache")

    with pytest.raises(CacheError, match="on nfs4"):
        LocalTier(tmp_path / "link", proc)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CacheError, match="file/cache: cannot be made: Not a directory"):
        LocalTier(tmp_path / "file/cache", mounted(tmp_path, "xfs"))


def test_a_graph_that_arrives_replaces_an_interrupted_compilation(tier: LocalTier) -> None:
    locked(tier, STALE_SECONDS + 5)
    arrived = Path(tier.new_folder())
    write(GRAPH, arrived)

    assert tier.accept(GRAPH, str(arrived))

    assert is_whole(GRAPH, tier.folder(GRAPH))
    assert list((tier.root / OWN).iterdir()) == []


def test_a_graph_that_arrives_is_not_put_under_a_compiler_that_works_on_it(tier: LocalTier) -> None:
    locked(tier, 5)
    arrived = Path(tier.new_folder())
    write(GRAPH, arrived)

    assert not tier.accept(GRAPH, str(arrived))
    assert tier.is_being_compiled(GRAPH)
    assert list((tier.root / OWN).iterdir()) == []


def test_a_graph_that_arrives_twice_is_there_once(tier: LocalTier) -> None:
    for _ in range(2):
        arrived = Path(tier.new_folder())
        write(GRAPH, arrived)
        assert tier.accept(GRAPH, str(arrived))

    assert is_whole(GRAPH, tier.folder(GRAPH))
    assert tier.graphs() == [GRAPH]
    assert list((tier.root / OWN).iterdir()) == []


def test_a_failure_that_the_compiler_remembers_is_cleared_for_a_retry(tier: LocalTier) -> None:
    tier.folder(GRAPH).mkdir(parents=True)
    (tier.folder(GRAPH) / "model.log").write_text("out of memory")

    assert tier.clear(GRAPH)
    assert tier.state(GRAPH) is None


@pytest.mark.parametrize(
    ("seconds", "compiler", "is_dead"),
    [
        (STALE_SECONDS - 20, None, False),
        (STALE_SECONDS + 20, None, True),
        (STALE_SECONDS + 20, "MODULE_2+abcd1234", False),
        (STALE_AMONG_OTHERS_SECONDS + 20, "MODULE_2+abcd1234", True),
        (STALE_AMONG_OTHERS_SECONDS + 20, "MODULE_1+abcd1234", False),
    ],
)
def test_a_lock_is_cleared_when_no_compiler_can_hold_it(
    tier: LocalTier, tmp_path: Path, seconds: float, compiler: str | None, is_dead: bool
) -> None:
    locked(tier, seconds)
    if compiler is not None:
        runs_compiler(tmp_path, compiler)

    assert tier.clear(GRAPH) is is_dead
    assert (tier.state(GRAPH) is None) is is_dead


def test_a_compiled_graph_is_never_cleared(tier: LocalTier) -> None:
    write(GRAPH, tier.folder(GRAPH))

    assert not tier.clear(GRAPH)
    assert tier.has(GRAPH)


def test_a_fetched_graph_whose_file_was_emptied_is_not_intact(tier: LocalTier, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    shared = SharedTier(tmp_path / "shared")
    write(GRAPH, tmp_path / "compiled")
    promotion.publish(
        shared, promotion.stage(shared, GRAPH, str(tmp_path / "compiled"), token=1, seconds=1.0, holder="x")
    )
    Lookup(tier, shared).fetch(GRAPH)

    assert tier.is_intact(GRAPH)

    (tier.folder(GRAPH) / "model.neff").write_bytes(b"")
    assert not tier.is_intact(GRAPH)
