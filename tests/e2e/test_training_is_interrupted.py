"""Three processes train, are interrupted by SIGTERM and by SIGKILL, and resume in new processes where they saved."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WORLD = 3
# Orders are given 3 seconds ahead; with steps of a fraction of a millisecond that is many of them.
MOST_STEPS = 200_000


class Job:
    """The processes of one run, kept in step as collectives would."""

    def __init__(self, tmp_path: Path, run: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_BATCH_JOB_ID": f"{run}#1"}
        self.ranks = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.support.training_rank", *self._arguments(tmp_path, rank)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(WORLD)
        ]
        self.resumed = self._answers()

    def _arguments(self, tmp_path: Path, rank: int) -> list[str]:
        node = tmp_path / f"node-{rank}"
        (node / "run").mkdir(parents=True, exist_ok=True)
        return [str(tmp_path / "store"), str(node), str(rank), str(WORLD)]

    def step(self, number: int) -> list[dict[str, Any]]:
        """What every rank did."""
        for rank in self.ranks:
            assert rank.stdin is not None
            rank.stdin.write(f"{number}\n")
            rank.stdin.flush()
        return self._answers()

    def until_end(self, first: int) -> tuple[int, list[int]]:
        """The last step, and which were saved; every rank must do the same."""
        saved = []
        for number in range(first, MOST_STEPS):
            done = self.step(number)
            assert len({(rank["saved"], rank["ends"]) for rank in done}) == 1, f"step {number}: {done}"
            if done[0]["saved"]:
                saved.append(number)
            if done[0]["ends"]:
                assert [rank.wait(timeout=120) for rank in self.ranks] == [0] * WORLD
                return number, saved
        raise AssertionError("it never ended")

    def _answers(self) -> list[dict[str, Any]]:
        answers = []
        for rank in self.ranks:
            assert rank.stdout is not None
            answers.append(json.loads(rank.stdout.readline()))
        return answers

    def kill(self) -> None:
        for rank in self.ranks:
            rank.kill()
            rank.wait(timeout=60)
            for pipe in (rank.stdin, rank.stdout):
                assert pipe is not None
                pipe.close()


@contextmanager
def job(tmp_path: Path, run: str) -> Iterator[Job]:
    running = Job(tmp_path, run)
    try:
        yield running
    finally:
        running.kill()


def totals(step: int) -> list[int]:
    """What each rank has added up after ``step``: (rank + 1) x (1 + 2 + … + step)."""
    return [(rank + 1) * step * (step + 1) // 2 for rank in range(WORLD)]


def test_training_goes_on_in_new_processes_where_all_of_the_old_ones_saved(tmp_path: Path) -> None:
    with job(tmp_path, "first") as first:
        assert first.resumed == [{"resumed": None, "total": 0}] * WORLD
        for number in range(1, 21):
            first.step(number)
        # One node is told that it goes; the others are not.
        first.ranks[2].terminate()
        end, saved = first.until_end(21)
        assert saved == [end]

    with job(tmp_path, "second") as second:
        assert second.resumed == [{"resumed": end, "total": total} for total in totals(end)]
        for number in range(end + 1, end + 21):
            second.step(number)
        # All of them are killed: nothing of these 20 steps was saved.

    with job(tmp_path, "third") as third:
        assert third.resumed == [{"resumed": end, "total": total} for total in totals(end)]
        (tmp_path / "node-1" / "run" / "drain").write_text("Capacity Block ends")
        last, saved = third.until_end(end + 1)
        assert saved == [last]

    with job(tmp_path, "fourth") as fourth:
        assert fourth.resumed == [{"resumed": last, "total": total} for total in totals(last)]
