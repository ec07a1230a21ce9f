"""What a save leaves in a store, by whom it is completed, and what it refuses."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fleet.checkpoints.layout import COMMITS, Attempt
from fleet.checkpoints.manifest import ABANDONED
from tests.support.checkpoints import read_back, save, save_rank, weights
from workload.checkpoint import staging
from workload.checkpoint.committing import commit_if_whole, publish
from workload.checkpoint.finding import latest
from workload.checkpoint.stores.file_store import FileStore
from workload.errors import AbandonedError, CheckpointError, SavedAlreadyError, StoreError


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def test_a_checkpoint_exists_when_the_last_rank_has_saved_whoever_that_is(store: FileStore, tmp_path: Path) -> None:
    attempt = Attempt(5, "run")
    for rank, completes in ((1, False), (2, False), (0, True)):
        assert latest(store).manifest is None
        assert save_rank(store, tmp_path / "s", attempt, rank, 3, weights(5, rank)) is completes
    manifest = latest(store).manifest
    assert manifest is not None
    assert (manifest.step, manifest.world_size, [part.rank for part in manifest.parts]) == (5, 3, [0, 1, 2])
    assert manifest.saved_at == 1_000_005.0


def test_ranks_that_end_at_once_make_one_manifest(store: FileStore, tmp_path: Path) -> None:
    attempt, ranks = Attempt(5, "run"), 70
    start = threading.Barrier(ranks)
    done: list[bool] = []

    def rank_saves(rank: int) -> None:
        directory = staging.begin(tmp_path / "s", attempt, rank)
        (directory / "x").write_bytes(b"x")
        staged = staging.finish(tmp_path / "s", attempt, rank)
        start.wait(timeout=60)
        done.append(publish(store, staged, ranks, 1.0))

    threads = [threading.Thread(target=rank_saves, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(done) == ranks
    assert any(done)
    assert [entry.key for entry in store.list(COMMITS)] == [attempt.commit()]


def test_a_rank_without_a_file_takes_part_and_an_empty_file_is_one(store: FileStore, tmp_path: Path) -> None:
    attempt = Attempt(1, "run")
    save_rank(store, tmp_path / "s", attempt, 0, 2, {})
    assert save_rank(store, tmp_path / "s", attempt, 1, 2, {"empty": b""})
    found = latest(store)
    assert found.manifest is not None
    assert [len(part.files) for part in found.manifest.parts] == [0, 1]


def test_parts_of_an_interrupted_run_are_not_taken_for_those_of_its_repetition(
    store: FileStore, tmp_path: Path
) -> None:
    save_rank(store, tmp_path / "s", Attempt(20, "first"), 0, 2, weights(20, 0))
    assert not save_rank(store, tmp_path / "s", Attempt(20, "second"), 1, 2, weights(20, 1))
    assert latest(store).manifest is None


def test_a_rank_that_saves_a_step_twice_in_one_run_is_refused_and_changes_nothing(
    store: FileStore, tmp_path: Path
) -> None:
    attempt = save(store, tmp_path / "s", 20)
    before = store.list(attempt.files())
    with pytest.raises(SavedAlreadyError, match="rank 0 saved step 20 of run run before: a run that is started again"):
        save_rank(store, tmp_path / "s", attempt, 0, 2, {"other": b"content"})
    assert store.list(attempt.files()) == before
    assert read_back(store, tmp_path / "r") == 20


def test_a_save_that_was_given_up_cannot_be_completed(store: FileStore, tmp_path: Path) -> None:
    attempt = Attempt(20, "run")
    save_rank(store, tmp_path / "s", attempt, 0, 2, weights(20, 0))
    store.create(attempt.commit(), ABANDONED)
    with pytest.raises(AbandonedError, match="step 20: the save took too long and was given up"):
        save_rank(store, tmp_path / "s", attempt, 1, 2, weights(20, 1))
    assert latest(store).manifest is None


def test_a_completed_one_may_be_completed_again(store: FileStore, tmp_path: Path) -> None:
    assert commit_if_whole(store, save(store, tmp_path / "s", 20), 2)


def test_what_was_staged_is_synced_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_fsync, real_rename = os.fsync, os.rename

    def fsync(descriptor: int) -> None:
        done.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real_fsync(descriptor)

    def rename(source: Any, target: Any) -> None:
        done.append("rename")
        real_rename(source, target)

    directory = staging.begin(tmp_path, Attempt(1, "run"), 0)
    (directory / "sub").mkdir()
    (directory / "sub" / "a").write_bytes(b"a")
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    staged = staging.finish(tmp_path, Attempt(1, "run"), 0)
    assert done == ["a", "sub", directory.name, "rename", tmp_path.name]
    # echo -n a | sha256sum
    assert staged.files[0].sha256 == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_what_is_stored_is_synced_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_fsync, real_link = os.fsync, os.link

    def fsync(descriptor: int) -> None:
        done.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real_fsync(descriptor)

    def link(source: Any, target: Any, **how: Any) -> None:
        done.append("link")
        real_link(source, target, **how)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    FileStore(tmp_path / "store").create("a/b/c", b"content")
    assert done[0].startswith("c.")
    assert done[0].endswith(".writing")
    # Then the name, and every directory that was made for it.
    assert done[1:] == ["link", "b", "a", "store"]


def test_a_file_that_is_written_to_while_it_is_sent_is_refused(store: FileStore, tmp_path: Path) -> None:
    attempt = Attempt(1, "run")
    directory = staging.begin(tmp_path / "s", attempt, 0)
    (directory / "model").write_bytes(b"before")
    staged = staging.finish(tmp_path / "s", attempt, 0)
    (staged.directory / "model").write_bytes(b"after!!")
    with pytest.raises(CheckpointError, match="model was written to while it was being sent"):
        publish(store, staged, 1, 0.0)
    assert latest(store).manifest is None


def test_a_directory_holds_files_only(tmp_path: Path) -> None:
    directory = staging.begin(tmp_path, Attempt(1, "run"), 0)
    (directory / "link").symlink_to("/etc/passwd")
    with pytest.raises(CheckpointError, match="link is neither a file nor a directory"):
        staging.finish(tmp_path, Attempt(1, "run"), 0)


def test_what_a_killed_rank_left_on_its_disk_is_removed_by_its_next_save(tmp_path: Path) -> None:
    for rank in (0, 1):
        (staging.begin(tmp_path, Attempt(1, "old"), rank) / "x").write_bytes(b"x")
    staging.begin(tmp_path, Attempt(2, "new"), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "000000000001.old.rank-00000.writing",
        "000000000002.new.rank-00001.writing",
    ]


def test_a_full_disk_leaves_nothing_that_anybody_sees(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    save(store, tmp_path / "s", 10)
    with monkeypatch.context() as patched:
        patched.setattr("workload.checkpoint.stores.file_store.os.fsync", full)
        with pytest.raises(StoreError, match=r"store/commits/x: No space left on device"):
            store.create("commits/x", b"x")
    assert not list((tmp_path / "store").rglob("*.writing"))
    assert read_back(store, tmp_path / "r") == 10
