"""What is deleted, when, and what never is."""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from fleet.checkpoints.layout import Attempt
from fleet.checkpoints.retention import Retention
from tests.support.checkpoints import read_back, save, save_rank, weights
from workload.checkpoint.collecting import collect
from workload.checkpoint.finding import latest, set_aside
from workload.checkpoint.resuming import choose, restore
from workload.checkpoint.stores.file_store import FileStore
from workload.errors import AbandonedError

KEEP = Retention(last=2, grace_seconds=3_600, reading_seconds=86_400, abandoned_seconds=86_400)
HOUR = 3_600.0


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def pass_time(tmp_path: Path, seconds: float) -> None:
    """Everything that is stored becomes older."""
    for path in (tmp_path / "store").rglob("*"):
        about = path.stat()
        os.utime(path, (about.st_atime, about.st_mtime - seconds))


def files(tmp_path: Path) -> set[str]:
    root = tmp_path / "store"
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_what_is_not_kept_is_condemned_first_and_deleted_after_the_grace(store: FileStore, tmp_path: Path) -> None:
    attempts = [save(store, tmp_path / "s", step) for step in (10, 20, 30)]
    first = collect(store, KEEP)
    assert (first.condemned, first.deleted) == ((attempts[0],), ())
    pass_time(tmp_path, HOUR - 60)
    assert collect(store, KEEP).deleted == ()
    pass_time(tmp_path, 120)
    assert collect(store, KEEP).deleted == (attempts[0],)
    assert not [path for path in files(tmp_path) if "000000000010" in path]
    assert read_back(store, tmp_path / "r") == 30
    # Nothing is left to do, and no directory is left empty.
    last = collect(store, KEEP)
    assert (last.condemned, last.deleted, last.abandoned, last.problems) == ((), (), (), ())
    assert all(any(path.iterdir()) for path in (tmp_path / "store").rglob("*") if path.is_dir())


def test_what_is_condemned_is_not_chosen_any_more(store: FileStore, tmp_path: Path) -> None:
    for step in (10, 20, 30):
        save(store, tmp_path / "s", step)
    collect(store, KEEP)
    for step in (20, 30):
        set_aside(store, Attempt(step, "run"), "bad")
    assert latest(store).manifest is None


def test_what_a_run_resumes_from_is_deleted_only_when_it_cannot_be_reading_any_more(
    store: FileStore, tmp_path: Path
) -> None:
    save(store, tmp_path / "s", 10)
    choice = choose(store, "reader").manifest
    assert choice is not None
    for step in (20, 30, 40):
        save(store, tmp_path / "s", step)
    assert collect(store, KEEP).condemned == (Attempt(20, "run"),)
    pass_time(tmp_path, 23 * HOUR)
    collect(store, KEEP)
    restore(store, choice, 0, 2, tmp_path / "late")
    # A day after it chose, it is done.
    pass_time(tmp_path, 2 * HOUR)
    assert collect(store, KEEP).condemned == (Attempt(10, "run"),)
    pass_time(tmp_path, 2 * HOUR)
    assert collect(store, KEEP).deleted == (Attempt(10, "run"),)


def test_whoever_chose_just_before_it_was_condemned_reads_it_to_the_end(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)

    # The collector comes between the reader's look and its note.
    class Between(FileStore):
        def create(self, key: str, content: bytes) -> bytes:
            for step in (20, 30):
                save(store, tmp_path / "s", step)
            assert collect(store, KEEP).condemned == (Attempt(10, "run"),)
            return super().create(key, content)

    choice = choose(Between(tmp_path / "store"), "reader").manifest
    assert choice is not None
    pass_time(tmp_path, 2 * HOUR)
    assert collect(store, KEEP).deleted == ()
    restore(store, choice, 1, 2, tmp_path / "r")


def test_a_save_is_given_up_when_nothing_came_for_a_day_and_not_before(store: FileStore, tmp_path: Path) -> None:
    cut_off = Attempt(20, "killed")
    save_rank(store, tmp_path / "s", cut_off, 0, 3, weights(20, 0))
    pass_time(tmp_path, 23 * HOUR)
    assert collect(store, KEEP).abandoned == ()
    # Another rank is slow, and alive.
    save_rank(store, tmp_path / "s", cut_off, 1, 3, weights(20, 1))
    pass_time(tmp_path, 23 * HOUR)
    assert collect(store, KEEP).abandoned == ()
    pass_time(tmp_path, 2 * HOUR)
    assert collect(store, KEEP).abandoned == (cut_off,)
    assert files(tmp_path) == {cut_off.commit()}
    # The mark stays for a day, for ranks that are slower still, and goes then.
    pass_time(tmp_path, 25 * HOUR)
    collect(store, KEEP)
    assert files(tmp_path) == set()


def test_a_rank_that_completes_a_save_while_it_is_given_up_either_wins_or_learns_it(
    store: FileStore, tmp_path: Path
) -> None:
    for wins in (True, False):
        attempt = Attempt(20, f"slow-{wins}")
        save_rank(store, tmp_path / "s", attempt, 0, 2, weights(20, 0))
        pass_time(tmp_path, 25 * HOUR)

        # The last rank completes it just before, or just after the collector has put its mark.
        class Racing(FileStore):
            def create(self, key: str, content: bytes, attempt: Attempt = attempt, wins: bool = wins) -> bytes:
                if key != attempt.commit():
                    return super().create(key, content)
                if wins:
                    save_rank(store, tmp_path / "s", attempt, 1, 2, weights(20, 1))
                held = super().create(key, content)
                if not wins:
                    with pytest.raises(AbandonedError):
                        save_rank(store, tmp_path / "s", attempt, 1, 2, weights(20, 1))
                return held

        assert collect(Racing(tmp_path / "store"), KEEP).abandoned == (() if wins else (attempt,))
        assert read_back(store, tmp_path / f"r-{wins}") == 20
        found = latest(store).manifest
        assert found is not None
        assert found.run == "slow-True"


def test_a_damaged_one_is_reported_and_neither_counted_nor_deleted(store: FileStore, tmp_path: Path) -> None:
    attempts = [save(store, tmp_path / "s", step) for step in (10, 20, 30, 40)]
    for broken in attempts[2:]:
        next((tmp_path / "store" / broken.files()).rglob("state.bin")).unlink()
    collected = collect(store, KEEP)
    # The two that can be resumed from are kept, although two newer ones are there.
    assert collected.condemned == ()
    assert len(collected.problems) == 2
    assert all(problem.endswith("is missing") for problem in collected.problems)
    assert read_back_older(store, tmp_path) == 20


def read_back_older(store: FileStore, tmp_path: Path) -> int:
    manifest = latest(store).manifest
    assert manifest is not None
    restore(store, manifest, 0, 2, tmp_path / "older")
    return manifest.step


def test_what_was_set_aside_is_kept_for_whoever_looks_at_it(store: FileStore, tmp_path: Path) -> None:
    aside = save(store, tmp_path / "s", 10)
    set_aside(store, aside, "the loss went up")
    for step in (20, 30, 40):
        save(store, tmp_path / "s", step)
    for _ in range(3):
        collect(store, KEEP)
        pass_time(tmp_path, 30 * HOUR)
    assert [path for path in files(tmp_path) if path.startswith(aside.files())]


def test_leftovers_of_killed_uploads_go_and_those_of_running_ones_stay(store: FileStore, tmp_path: Path) -> None:
    save(store, tmp_path / "s", 10)
    left = tmp_path / "store" / "files" / "x.0123.writing"
    left.write_bytes(b"half")
    assert collect(store, KEEP).uploads_removed == 0
    assert left.exists()
    pass_time(tmp_path, 25 * HOUR)
    assert collect(store, KEEP).uploads_removed == 1
    assert not left.exists()
    assert read_back(store, tmp_path / "r") == 10


class KilledError(BaseException):
    """SIGKILL."""


class Mortal(FileStore):
    """Dies before the change number ``lives``."""

    def __init__(self, root: Path, lives: int) -> None:
        super().__init__(root)
        self._lives = lives

    def create(self, key: str, content: bytes) -> bytes:
        self._live()
        return super().create(key, content)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._live()
            super().delete([key])

    def _live(self) -> None:
        self._lives -= 1
        if self._lives < 0:
            raise KilledError


def test_a_collector_killed_at_any_step_harms_nothing_and_the_next_one_finishes(tmp_path: Path) -> None:
    template, here = tmp_path / "template", tmp_path / "here"
    store = FileStore(template / "store")
    for step in (10, 20, 30):
        save(store, tmp_path / "s", step)
    save_rank(store, tmp_path / "s", Attempt(25, "killed"), 0, 2, weights(25, 0))
    collect(store, KEEP)
    pass_time(template, 25 * HOUR)
    # The clock and its removal; 4 files, 2 parts, manifest and note; the mark, 2 files and 1 part.
    for kills in range(14):
        shutil.copytree(template, here)
        with pytest.raises(KilledError):
            collect(Mortal(here / "store", kills), KEEP)
        store = FileStore(here / "store")
        assert read_back(store, tmp_path / f"r-{kills}") == 30
        collect(store, KEEP)
        assert not [path for path in files(here) if "000000000010" in path]
        assert {path for path in files(here) if "25.killed" in path} == {Attempt(25, "killed").commit()}
        shutil.rmtree(here)
    collect(Mortal(template / "store", 14), KEEP)


def test_ages_are_by_the_stores_clock_and_not_by_this_machines(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (10, 20, 30):
        save(store, tmp_path / "s", step)
    collect(store, KEEP)
    ahead = time.time() + 365 * 86_400
    monkeypatch.setattr(time, "time", lambda: ahead)
    assert collect(store, KEEP).deleted == ()
