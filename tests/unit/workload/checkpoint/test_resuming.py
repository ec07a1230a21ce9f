"""Every rank resumes from the same checkpoint, the latest that is whole, or is told in one line why not."""

from pathlib import Path

import pytest

from fleet.checkpoints.layout import Attempt, reader
from tests.support.checkpoints import save, save_rank, weights
from workload.checkpoint.finding import latest, read, set_aside
from workload.checkpoint.resuming import choose, restore
from workload.checkpoint.stores.file_store import FileStore
from workload.errors import CheckpointError, DamagedCheckpointError, RunReusedError, WorldSizeError


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def step_of(store: FileStore, run: str) -> int | None:
    manifest = choose(store, run).manifest
    return None if manifest is None else manifest.step


def stored(tmp_path: Path, attempt: Attempt, rank: int) -> Path:
    return next((tmp_path / "store" / attempt.files()).glob(f"{rank:05d}-*/model.bin"))


def test_a_run_resumes_from_the_latest_complete_one_and_a_partial_one_is_none(store: FileStore, tmp_path: Path) -> None:
    assert step_of(store, "a") is None
    save(store, tmp_path / "s", 10)
    save_rank(store, tmp_path / "s", Attempt(20, "run"), 0, 2, weights(20, 0))
    assert step_of(store, "b") == 10


def test_ranks_that_ask_later_follow_the_first_even_when_a_newer_one_appears(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    assert step_of(store, "next") == 10
    # A straggler of the run before completes step 20 now.
    save(store, tmp_path / "s", 20)
    assert step_of(store, "next") == 10
    assert step_of(store, "another") == 20


def test_ranks_that_began_without_one_stay_so(store: FileStore, tmp_path: Path) -> None:
    assert step_of(store, "next") is None
    save(store, tmp_path / "s", 10)
    assert step_of(store, "next") is None


def test_a_run_that_saved_and_asks_again_was_started_under_an_old_name(store: FileStore, tmp_path: Path) -> None:
    assert step_of(store, "again") is None
    save(store, tmp_path / "s", 10, run="again")
    with pytest.raises(RunReusedError, match="run again has saved checkpoints already: give a job that is started"):
        choose(store, "again")


def test_another_number_of_ranks_is_one_clear_line(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    manifest = latest(store).manifest
    assert manifest is not None
    with pytest.raises(WorldSizeError) as refused:
        restore(store, manifest, 0, 4, tmp_path / "r")
    assert str(refused.value) == (
        "the checkpoint of step 10 was saved by 2 ranks and this job has 4: start it with 2, or convert the checkpoint "
        "first"
    )
    assert not (tmp_path / "r").exists()


def test_one_with_a_missing_or_shortened_file_is_passed_over_and_that_is_said(store: FileStore, tmp_path: Path) -> None:
    for step in (10, 20, 30):
        save(store, tmp_path / "s", step)
    stored(tmp_path, Attempt(30, "run"), 1).unlink()
    path = stored(tmp_path, Attempt(20, "run"), 0)
    path.write_bytes(path.read_bytes()[:-1])
    choice = choose(store, "next")
    assert choice.manifest is not None
    assert choice.manifest.step == 10
    assert "is missing" in choice.passed_over[0]
    # "20/0;" 10,000 times
    assert "has 49999 bytes instead of 50000" in choice.passed_over[1]


def test_one_whose_manifest_is_damaged_is_passed_over(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    (tmp_path / "store" / save(store, tmp_path / "s", 20).commit()).write_bytes(b"{}")
    found = latest(store)
    assert found.manifest is not None
    assert found.manifest.step == 10
    assert found.passed_over[0].endswith("commits/000000000020.run.json: not of schema 1")


def test_a_manifest_under_another_name_is_none(store: FileStore, tmp_path: Path) -> None:
    content = store.read(save(store, tmp_path / "s", 10).commit())
    assert content is not None
    store.create(Attempt(99, "run").commit(), content)
    with pytest.raises(DamagedCheckpointError, match="it is the manifest of step 10"):
        read(store, Attempt(99, "run"))


def test_a_changed_byte_is_found_when_it_is_fetched(store: FileStore, tmp_path: Path) -> None:
    path = stored(tmp_path, save(store, tmp_path / "s", 10), 1)
    path.write_bytes(b"X" + path.read_bytes()[1:])
    manifest = latest(store).manifest
    assert manifest is not None
    restore(store, manifest, 0, 2, tmp_path / "r0")
    with pytest.raises(DamagedCheckpointError, match="other content instead of the 50000 bytes that were saved"):
        restore(store, manifest, 1, 2, tmp_path / "r1")


def test_one_that_a_person_set_aside_is_not_resumed(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    set_aside(store, save(store, tmp_path / "s", 20), "the loss went up")
    assert step_of(store, "next") == 10


def test_of_two_runs_that_saved_one_step_the_later_one_counts(store: FileStore, tmp_path: Path) -> None:
    import os

    for run, age in (("zz-first", 2_000.0), ("aa-second", 1_000.0)):
        attempt = save(store, tmp_path / "s", 10, run=run)
        path = tmp_path / "store" / attempt.commit()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    found = latest(store).manifest
    assert found is not None
    assert found.run == "aa-second"


def test_whoever_takes_too_long_to_choose_chooses_again_and_then_says_so(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    slow = iter([0.0, 301.0, 400.0, 401.0])
    assert choose(store, "next", monotonic=lambda: next(slow)).manifest is not None
    with pytest.raises(CheckpointError, match="it took longer than 300 s to look for the latest, every time"):
        choose(store, "slower", monotonic=iter(range(0, 10_000, 300)).__next__)
    assert store.read(reader("slower")) is None


def test_a_note_that_is_none_is_refused(store: FileStore, tmp_path: Path) -> None:
    store.create(reader("odd"), b"{}")
    with pytest.raises(DamagedCheckpointError, match="does not say what to resume from"):
        choose(store, "odd")
    store.create(reader("gone"), b'{"attempt": "000000000010.run"}')
    with pytest.raises(DamagedCheckpointError, match="from which this run resumes, is not there any more"):
        choose(store, "gone")
