"""Collectives of ranks that come, wait, and leave."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from local.training import fabric
from local.training.fabric import Fabric, Step


@pytest.fixture
def served() -> Iterator[Fabric]:
    with fabric.serving() as found:
        yield found


class Rank:
    """A rank of a run of two."""

    def __init__(self, served: Fabric, rank: int, run: str = "job.1") -> None:
        host, _, port = served.address.partition(":")
        self.link = socket.create_connection((host, int(port)))
        self.place = {"run": run, "rank": rank, "world": 2}
        self.answers: list[str] = []

    def come(self, step: int, total: int = 0) -> threading.Thread:
        thread = threading.Thread(target=self._meet, args=({**self.place, "step": step, "total": total},))
        thread.start()
        return thread

    def _meet(self, said: dict[str, Any]) -> None:
        self.link.sendall(json.dumps(said).encode() + b"\n")
        with suppress(ValueError, OSError):
            self.answers.append(json.loads(self.link.recv(1000))["why"])


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_step_is_done_when_all_have_come_and_it_is_allowed(served: Fabric) -> None:
    ranks = [Rank(served, 0), Rank(served, 1)]
    threads = [ranks[0].come(1, 5)]
    time.sleep(0.1)
    assert not served.is_idle
    threads.append(ranks[1].come(1, 7))
    wait_until(lambda: served.is_idle)
    assert (served.steps, ranks[0].answers) == ([], [])
    served.allow(1)
    for thread in threads:
        thread.join(30)
    assert served.steps == [Step("job.1", 1, (5, 7))]
    assert [rank.answers for rank in ranks] == [[""], [""]]
    for rank in ranks:
        rank.link.close()


def test_who_leaves_while_it_waits_breaks_the_collective_of_the_others_and_is_not_counted(served: Fabric) -> None:
    ranks = [Rank(served, 0), Rank(served, 1)]
    held = [rank.come(1) for rank in ranks]
    wait_until(lambda: served.is_idle)
    ranks[1].link.shutdown(socket.SHUT_RDWR)
    ranks[1].link.close()
    held[0].join(30)
    assert ranks[0].answers == ["rank 1 has left"]
    served.allow(10)
    # A new run of the same job has nothing to do with it.
    again = [Rank(served, number, "job.2") for number in (0, 1)]
    for thread in [rank.come(1) for rank in again]:
        thread.join(30)
    assert [step.run for step in served.steps] == ["job.2"]
    for rank in (ranks[0], *again):
        rank.link.close()


def test_ranks_at_different_steps_are_an_error(served: Fabric) -> None:
    served.allow(1)
    ranks = [Rank(served, 0), Rank(served, 1)]
    for thread in [rank.come(number) for number, rank in enumerate(ranks, start=4)]:
        thread.join(30)
    assert ranks[0].answers == ["ranks are at different steps: [4, 5]"]
    for rank in ranks:
        rank.link.close()
