"""What the shared tier shows, and what it hands out."""

import errno
import os
import time
from pathlib import Path

import pytest

from fleet.compile_cache import manifest as manifests
from tests.support.compiled_graphs import VERSION, graph, is_whole, write
from tests.support.nfs import NfsClient
from workload.compile_cache.tiers import content, promotion
from workload.compile_cache.tiers.shared import LEFTOVER_SECONDS, PROMOTING, SharedTier
from workload.errors import CacheError, DamagedGraphError

GRAPH = graph(1)


@pytest.fixture
def tier(tmp_path: Path) -> SharedTier:
    (tmp_path / "shared").mkdir()
    return SharedTier(tmp_path / "shared")


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    write(GRAPH, tmp_path / "compiled")
    return tmp_path / "compiled"


def promote(tier: SharedTier, compiled: Path, token: int = 1) -> bool:
    return promotion.publish(
        tier, promotion.stage(tier, GRAPH, str(compiled), token=token, seconds=61.5, holder="node-1")
    )


def shown(tier: SharedTier) -> Path:
    return tier.root / VERSION / GRAPH.module


def test_a_promoted_graph_is_fetched_byte_by_byte_with_what_is_known_of_it(
    tier: SharedTier, compiled: Path, tmp_path: Path
) -> None:
    assert promote(tier, compiled)

    found = tier.fetch(GRAPH, str(tmp_path / "fetched"))

    assert is_whole(GRAPH, tmp_path / "fetched")
    assert found is not None
    assert (found.graph, found.token, found.seconds, found.holder) == (GRAPH, 1, 61.5, "node-1")
    # 2,000 seeds of 32 bytes, twice 10 of them, and an empty marker.
    assert found.size == 32 * 2000 + 2 * 32 * 10


def test_of_two_promotions_the_first_stays_and_nothing_is_left_of_the_second(tier: SharedTier, compiled: Path) -> None:
    assert promote(tier, compiled, token=1)
    assert not promote(tier, compiled, token=2)

    found = tier.find(GRAPH)
    assert found is not None
    assert found.token == 1
    assert list((tier.root / PROMOTING).iterdir()) == []


def test_locks_and_older_manifests_are_not_promoted(tier: SharedTier, compiled: Path) -> None:
    (compiled / "model.hlo_module.pb.lock").touch()
    (compiled / manifests.NAME).write_text("of another cache")

    promote(tier, compiled)

    assert sorted(path.name for path in shown(tier).iterdir()) == sorted(
        ["compile_flags.json", "model.done", "model.hlo_module.pb", "model.neff", manifests.NAME]
    )


def test_other_users_may_read_what_a_writer_with_a_strict_umask_promoted(tier: SharedTier, compiled: Path) -> None:
    before = os.umask(0o077)
    try:
        promote(tier, compiled)
    finally:
        os.umask(before)

    assert {oct(path.stat().st_mode & 0o777) for path in shown(tier).iterdir()} == {"0o644"}
    assert oct(shown(tier).stat().st_mode & 0o777) == "0o755"
    assert oct(shown(tier).parent.stat().st_mode & 0o777) == "0o755"


def test_a_graph_with_a_folder_in_it_is_not_promoted(tier: SharedTier, compiled: Path) -> None:
    (compiled / "deeper").mkdir()

    with pytest.raises(OSError, match="not a file"):
        promote(tier, compiled)

    assert tier.find(GRAPH) is None


def test_a_file_name_that_no_compiler_gives_is_refused(tier: SharedTier, compiled: Path) -> None:
    (compiled / "-rf *").touch()

    with pytest.raises(CacheError, match="not a file that the compiler writes"):
        promote(tier, compiled)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "model.neff").write_bytes(bytes(32 * 2000)),
        lambda folder: (folder / "model.neff").write_bytes(b"short"),
        lambda folder: (folder / "model.neff").unlink(),
        lambda folder: (folder / manifests.NAME).unlink(),
        lambda folder: (folder / manifests.NAME).write_bytes(b'{"schema": 1'),
    ],
    ids=["zeros", "short", "a file is gone", "no manifest", "half a manifest"],
)
def test_a_damaged_graph_is_never_handed_out(tier: SharedTier, compiled: Path, tmp_path: Path, damage: object) -> None:
    promote(tier, compiled)
    assert callable(damage)
    damage(shown(tier))

    with pytest.raises(DamagedGraphError, match="MODULE_1"):
        tier.fetch(GRAPH, str(tmp_path / "fetched"))

    assert not (tmp_path / "fetched").exists()


def test_a_manifest_of_another_graph_is_damage(tier: SharedTier, compiled: Path) -> None:
    promote(tier, compiled)
    shown(tier).rename(shown(tier).parent / graph(2).module)

    with pytest.raises(DamagedGraphError, match=r"its manifest is that of .*MODULE_1"):
        tier.find(graph(2))


def test_a_full_local_disk_is_said_to_be_one(
    tier: SharedTier, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote(tier, compiled)

    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(CacheError, match="fetched: No space left on device"):
        tier.fetch(GRAPH, str(tmp_path / "fetched"))


def test_a_stale_handle_is_looked_up_again(
    tier: SharedTier, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote(tier, compiled)
    stale, pread = [2], os.pread

    def reading(*arguments: int) -> bytes:
        if stale[0]:
            stale[0] -= 1
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return pread(*arguments)

    monkeypatch.setattr(os, "pread", reading)
    tier.fetch(GRAPH, str(tmp_path / "fetched"))

    assert stale == [0]
    assert is_whole(GRAPH, tmp_path / "fetched")


@pytest.mark.parametrize(
    ("lateness", "outcome"), [((3600.0, 0.0), "absent"), ((0.0, 3600.0), "damaged"), ((0.0, 0.0), "whole")]
)
def test_what_a_client_of_nfs_sees_too_early_is_not_believed(
    tier: SharedTier, compiled: Path, tmp_path: Path, lateness: tuple[float, float], outcome: str
) -> None:
    promote(tier, compiled)
    client = NfsClient(tier.root)
    client.lateness = lambda: lateness  # type: ignore[method-assign]  # in place of chance

    with client.installed():
        try:
            seen = "whole" if tier.fetch(GRAPH, str(tmp_path / "fetched")) is not None else "absent"
        except DamagedGraphError:
            seen = "damaged"

    assert seen == outcome
    assert (tmp_path / "fetched").exists() is (outcome == "whole")


def test_a_removed_graph_is_gone_and_may_be_promoted_again(tier: SharedTier, compiled: Path) -> None:
    promote(tier, compiled)

    tier.discard(GRAPH)
    tier.discard(GRAPH)

    assert tier.find(GRAPH) is None
    assert tier.listing() == {}
    assert promote(tier, compiled, token=2)
    assert list(tier.listing()) == [GRAPH]


def test_what_a_killed_writer_left_is_known_after_a_day(tier: SharedTier, compiled: Path) -> None:
    staged = promotion.stage(tier, GRAPH, str(compiled), token=1, seconds=1.0, holder="killed")
    now = time.time()

    assert tier.leftovers(now) == ()
    assert tier.leftovers(now + LEFTOVER_SECONDS + 60) == (staged.folder,)


def test_without_the_mount_nothing_is_promoted_to_the_disk_below(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="no shared compile cache is mounted there"):
        SharedTier(tmp_path / "not mounted")


def test_fetched_files_have_one_time_however_long_they_took(
    tier: SharedTier, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote(tier, compiled)
    copy = content.copy

    def slowly(source: str, target: str, size: int, *, through: bool) -> str:
        digest = copy(source, target, size, through=through)
        # As if this file had come a minute before the next.
        os.utime(target, (time.time() - 60, time.time() - 60))
        return digest

    monkeypatch.setattr(content, "copy", slowly)
    monkeypatch.setattr("workload.compile_cache.tiers.shared._QUICK", -1.0)
    tier.fetch(GRAPH, str(tmp_path / "fetched"))

    times = [(tmp_path / "fetched" / name).stat().st_mtime for name in ("model.hlo_module.pb", "model.done")]
    assert max(times) - min(times) < 1


def test_holes_are_not_filled_and_do_not_change_a_digest(tmp_path: Path) -> None:
    size = 5 * content.BLOCK + 1234
    spans = {0: b"head", content.BLOCK - 2: b"over the border", 3 * content.BLOCK + 4096: b"tail", size - 1: b"x"}
    with (tmp_path / "sparse").open("wb") as sparse:
        for position, data in spans.items():
            sparse.seek(position)
            sparse.write(data)
    filled = bytearray(size)
    for position, data in spans.items():
        filled[position : position + len(data)] = data
    (tmp_path / "filled").write_bytes(filled)

    digest = content.copy(str(tmp_path / "sparse"), str(tmp_path / "copy"), size, through=False)

    assert (tmp_path / "copy").read_bytes() == bytes(filled)
    assert (tmp_path / "copy").stat().st_blocks * 512 < size / 2
    assert content.measure(str(tmp_path / "filled")) == (size, digest)
    filled[2 * content.BLOCK] = 1
    (tmp_path / "filled").write_bytes(filled)
    assert content.measure(str(tmp_path / "filled")) != (size, digest)


def test_a_length_of_zeros_is_part_of_the_digest(tmp_path: Path) -> None:
    for name, size in (("a", 10), ("b", 11)):
        (tmp_path / name).write_bytes(bytes(size))

    assert content.measure(str(tmp_path / "a"))[1] != content.measure(str(tmp_path / "b"))[1]
