"""A training loop of several ranks, drained, killed and resumed; each rank knows only the store and its own clock."""

import logging
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet.checkpoints.retention import Retention
from fleet.checkpoints.schedule import Schedule
from workload.checkpoint.drain import Drain
from workload.checkpoint.finding import latest
from workload.checkpoint.member import Habits, Member
from workload.checkpoint.saver import Saver
from workload.checkpoint.stores.file_store import FileStore
from workload.errors import StoreError
from workload.node_agent import Hints

NEVER = Habits(retention=None)


class Rank:
    """One rank on a node of its own: its run directory, its disk, and a clock that goes a second a step."""

    def __init__(self, tmp_path: Path, rank: int, world: int, run: str = "run", habits: Habits = NEVER) -> None:
        self.now = 1_000.0 * rank
        self.node = tmp_path / f"node-{rank}"
        self.run_directory = self.node / "run"
        self.run_directory.mkdir(parents=True, exist_ok=True)
        self.store: Any = FileStore(tmp_path / "store")
        drain = Drain(self.run_directory, seconds=0.0, monotonic=lambda: self.now)
        self.saver = Saver(
            self.store, Member(run, rank, world), self.node / "disk", drain, habits, monotonic=lambda: self.now
        )
        self.saver.hints = Hints(rank, unix=self.node / "no-agent", address=("127.0.0.1", 9))
        self.saver.pause = self.sleep
        self.rank = rank
        self.saved: list[int] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def step(self, number: int) -> bool:
        """Whether training goes on."""
        self.now += 1.0
        if self.saver.wants(number):
            with self.saver.save(number) as directory:
                (directory / "model").write_text(f"{number}/{self.rank}")
            self.saved.append(number)
        return not self.saver.ends(number)


def train(ranks: list[Rank], steps: range, look_every: int = 10) -> int:
    """Synchronous steps of all ranks; the last one that was done."""
    for number in steps:
        if number % look_every == 0:
            for rank in ranks:
                rank.saver.orders.look()
        # A list: every rank does its step.
        if not all([rank.step(number) for rank in ranks]):  # noqa: C419
            return number
    return steps[-1]


def latest_step(tmp_path: Path) -> int | None:
    manifest = latest(FileStore(tmp_path / "store")).manifest
    return None if manifest is None else manifest.step


def ranks_of(tmp_path: Path, run: str = "run", habits: Habits = NEVER) -> list[Rank]:
    return [Rank(tmp_path, rank, 3, run, habits) for rank in range(3)]


def test_one_drained_node_makes_every_rank_save_the_same_step_and_end(tmp_path: Path) -> None:
    ranks = ranks_of(tmp_path)
    train(ranks, range(1, 21))
    # Nobody but rank 2 sees it; steps take a second and orders are given 30 seconds ahead: 21 + 1 + 30.
    (ranks[2].run_directory / "drain").write_text("Capacity Block ends")
    assert train(ranks, range(21, 200)) == 52
    assert [rank.saved for rank in ranks] == [[52]] * 3
    assert latest_step(tmp_path) == 52


def test_a_resumed_run_goes_on_where_every_rank_saved(tmp_path: Path) -> None:
    ranks = ranks_of(tmp_path)
    assert all(rank.saver.resume() is None for rank in ranks)
    (ranks[1].run_directory / "drain").write_text("x")
    train(ranks, range(1, 200))
    (ranks[1].run_directory / "drain").unlink()
    again = ranks_of(tmp_path, run="again")
    resumed = [rank.saver.resume() for rank in again]
    for rank, found in enumerate(resumed):
        assert found is not None
        # The pace is known after step 2: 2 + 1 + 30.
        assert found.step == 33
        assert (found.directory / "model").read_text() == f"33/{rank}"
    # Its next saves are new ones, and the resumed files stay until then and after.
    (again[0].run_directory / "checkpoint").write_text("x")
    train(again, range(34, 90))
    # 35 + 1 + 30
    assert latest_step(tmp_path) == 66
    assert resumed[0] is not None
    assert (resumed[0].directory / "model").exists()


def test_a_checkpoint_marker_is_answered_once_and_training_goes_on(tmp_path: Path) -> None:
    ranks = ranks_of(tmp_path)
    train(ranks, range(1, 11))
    (ranks[1].run_directory / "checkpoint").write_text("Capacity Block ends 2026-12-18T11:30:00Z")
    assert train(ranks, range(11, 120)) == 119
    assert [rank.saved for rank in ranks] == [[42]] * 3


def test_a_drain_after_a_checkpoint_was_ordered_ends_the_job_all_the_same(tmp_path: Path) -> None:
    ranks = ranks_of(tmp_path)
    train(ranks, range(1, 11))
    (ranks[1].run_directory / "checkpoint").write_text("x")
    train(ranks, range(11, 15))
    (ranks[0].run_directory / "drain").write_text("x")
    # 15 + 1 + 30
    assert train(ranks, range(15, 120)) == 46
    assert [rank.saved for rank in ranks] == [[42, 46]] * 3


def test_every_so_many_steps_are_saved_without_a_word_between_ranks(tmp_path: Path) -> None:
    ranks = ranks_of(tmp_path, habits=replace(NEVER, schedule=Schedule(every_steps=25)))
    train(ranks, range(1, 61))
    assert [rank.saved for rank in ranks] == [[25, 50]] * 3
    assert FileStore(tmp_path / "store").list("orders/") == []


def test_time_is_judged_by_rank_0_alone(tmp_path: Path) -> None:
    # The others' clocks are 1,000 and 2,000 seconds ahead, and nobody looks at them.
    ranks = ranks_of(tmp_path, habits=replace(NEVER, schedule=Schedule(longest_seconds=100)))
    train(ranks, range(1, 150))
    # Due after 100 seconds, at step 100; 31 steps ahead.
    assert [rank.saved for rank in ranks] == [[131]] * 3


def test_a_rank_that_is_alone_saves_at_once(tmp_path: Path) -> None:
    rank = Rank(tmp_path, 0, 1)
    train([rank], range(1, 6))
    (rank.run_directory / "checkpoint").write_text("x")
    assert rank.step(6)
    (rank.run_directory / "drain").write_text("x")
    assert not rank.step(7)
    assert rank.saved == [6, 7]


def test_a_rank_that_learned_of_the_end_too_late_ends_at_once(tmp_path: Path) -> None:
    late, other = Rank(tmp_path, 0, 2), Rank(tmp_path, 1, 2)
    other.saver.orders.give(5, ends=True)
    for number in range(1, 8):
        assert late.step(number)
    late.saver.orders.look()
    assert not late.step(8)
    assert late.saved == []
    assert latest_step(tmp_path) is None


def test_when_the_job_ends_rank_0_waits_for_the_others_parts_because_batch_ends_with_it(tmp_path: Path) -> None:
    first, second = Rank(tmp_path, 0, 2), Rank(tmp_path, 1, 2)
    first.saver.orders.give(5, ends=True)
    second.saver.orders.look()
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            second.step(5)

    first.saver.pause = wait
    assert not first.step(5)
    assert waits == [1.0] * 3
    assert latest_step(tmp_path) == 5


def test_it_does_not_wait_for_ever(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Rank(tmp_path, 0, 2)
    first.saver.orders.give(5, ends=True)
    before = first.now
    assert not first.step(5)
    assert first.now - before == pytest.approx(901, abs=1.5)
    assert caplog.messages == ["step 5 was not saved by every rank before the end"]


class Refusing(FileStore):
    """A store that takes no part any more."""

    def create(self, key: str, content: bytes) -> bytes:
        if key.startswith("parts/"):
            raise StoreError("s3://b: SlowDown")
        return super().create(key, content)


def refusing(tmp_path: Path, habits: Habits) -> Rank:
    rank = Rank(tmp_path, 0, 1, habits=habits)
    saver = Saver(
        Refusing(tmp_path / "store"),
        Member("run", 0, 1),
        rank.node / "disk",
        Drain(rank.run_directory, seconds=0.0),
        habits,
        monotonic=lambda: rank.now,
    )
    saver.hints = rank.saver.hints
    rank.saver = saver
    return rank


def test_training_outlives_a_store_that_refuses_and_is_told_when_it_goes_on_refusing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rank = refusing(tmp_path, replace(NEVER, schedule=Schedule(every_steps=10)))
    train([rank], range(1, 30))
    assert caplog.messages == [
        "step 10 was not saved (1 in a row): s3://b: SlowDown",
        "step 20 was not saved (2 in a row): s3://b: SlowDown",
    ]
    with pytest.raises(StoreError, match="SlowDown"):
        rank.step(30)
    assert list((rank.node / "disk").iterdir()) == []


def test_the_last_save_before_the_end_is_never_lost_in_silence(tmp_path: Path) -> None:
    rank = refusing(tmp_path, NEVER)
    (rank.run_directory / "drain").write_text("x")
    with pytest.raises(StoreError, match="SlowDown"):
        rank.step(1)


def test_an_order_that_the_store_refuses_is_given_again_after_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rank = Rank(tmp_path, 1, 2)
    (rank.run_directory / "drain").write_text("x")
    real, tries = rank.saver.orders.give, []

    def give(step: int, *, ends: bool) -> object:
        tries.append(step)
        if len(tries) == 1:
            raise StoreError("no answer")
        return real(step, ends=ends)

    rank.saver.orders.give = give  # type: ignore[method-assign,assignment]  # a store that fails once
    for number in range(1, 13):
        rank.step(number)
    # Steps take a second: 2 + 1 + 30, and again 10 seconds later.
    assert tries == [33, 43]
    assert caplog.messages == ["no save could be ordered: no answer"]


def test_rank_0_deletes_what_is_not_kept_in_the_background(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    habits = Habits(schedule=Schedule(every_steps=1), retention=Retention(last=2))
    rank = Rank(tmp_path, 0, 1, habits=habits)
    for number in range(1, 6):
        rank.step(number)
        tidying = rank.saver._tidying
        assert tidying is not None
        tidying.join(timeout=60)
    condemned = [entry.key for entry in FileStore(tmp_path / "store").list("condemned/")]
    assert condemned == [f"condemned/{step:012d}.run.json" for step in (1, 2, 3)]
    assert caplog.messages == []


@pytest.mark.usefixtures("_own_sigterm")
def test_sigterm_in_the_middle_of_training_ends_it_after_a_save(tmp_path: Path) -> None:
    rank = Rank(tmp_path, 0, 1)
    with rank.saver.listening():
        assert rank.step(1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert not rank.step(2)
    assert latest_step(tmp_path) == 2


def test_a_rank_that_is_none_of_the_world_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 2 is not one of 2"):
        Member("run", 2, 2)
