"""What a process is told and tells: SIGTERM, markers, orders, hints."""

import os
import signal
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from fleet.checkpoints.layout import RunNameError
from workload.checkpoint.deciding import Order, Orders
from workload.checkpoint.drain import Drain, Wish
from workload.checkpoint.member import run_name
from workload.checkpoint.stores.file_store import FileStore
from workload.errors import CheckpointError, StoreError
from workload.node_agent import Hints


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.usefixtures("_own_sigterm")
def test_sigterm_is_a_wish_to_end_and_the_handler_before_is_called_too(tmp_path: Path) -> None:
    seen: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: seen.append(number))
    drain = Drain(tmp_path)
    drain.listen()
    assert drain.wish() is Wish.NOTHING
    os.kill(os.getpid(), signal.SIGTERM)
    assert drain.wish() is Wish.END
    assert seen == [signal.SIGTERM]


def test_only_the_main_thread_can_listen(tmp_path: Path) -> None:
    said: list[str] = []

    def listen() -> None:
        try:
            Drain(tmp_path).listen()
        except RuntimeError as error:
            said.append(str(error))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join(timeout=60)
    assert said == ["Drain.listen must be called from the main thread"]


def test_the_drain_marker_is_a_wish_to_end_that_stays(tmp_path: Path) -> None:
    clock = Clock()
    drain = Drain(tmp_path, seconds=1.0, monotonic=clock)
    assert drain.wish() is Wish.NOTHING
    (tmp_path / "drain").write_text("Capacity Block ends")
    clock.now = 1.0
    assert drain.wish() is Wish.END
    (tmp_path / "drain").unlink()
    clock.now = 2.0
    assert drain.wish() is Wish.END


def test_each_new_checkpoint_marker_is_answered_once(tmp_path: Path) -> None:
    clock = Clock()
    drain, marker = Drain(tmp_path, seconds=0.0, monotonic=clock), tmp_path / "checkpoint"
    marker.write_text("1")
    assert [drain.wish(), drain.wish()] == [Wish.CHECKPOINT] * 2
    drain.answered()
    assert drain.wish() is Wish.NOTHING
    # Renamed into place, as those who ask do it.
    (tmp_path / "checkpoint.new").write_text("2")
    (tmp_path / "checkpoint.new").rename(marker)
    assert drain.wish() is Wish.CHECKPOINT


def test_asking_after_every_step_looks_at_the_files_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    looks: list[Path] = []
    monkeypatch.setattr("workload.checkpoint.drain._identity", looks.append)
    drain = Drain(tmp_path, seconds=1.0, monotonic=clock)
    for step in range(10_000):
        clock.now = step / 5_000
        assert drain.wish() is Wish.NOTHING
    # At 0 and at 1 second, two files.
    assert len(looks) == 4


def test_a_run_directory_that_is_not_there_asks_for_nothing(tmp_path: Path) -> None:
    assert Drain(tmp_path / "none").wish() is Wish.NOTHING


def test_an_order_reaches_every_rank_at_its_next_look(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    one, other = Orders(store, "run", 3), Orders(store, "run", 0)
    assert one.give(120, ends=False) == Order(120, False, 3)
    assert other.at(120) is None
    other.look()
    assert other.at(120) == Order(120, False, 3)
    assert (other.at(119), other.end()) == (None, None)
    assert other.ahead(119) == Order(120, False, 3)
    assert other.ahead(120) is None


def test_of_two_ranks_that_order_at_once_one_does_and_both_know(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    one, other = Orders(store, "run", 1), Orders(store, "run", 2)
    one.give(120, ends=True)
    # Rank 2 has not looked: it finds an order that is as strong and later, and leaves it at that.
    assert other.give(118, ends=True) == Order(120, True, 1)
    assert (other.end(), other.at(118)) == (120, None)
    assert len(store.list("orders/run/")) == 1


def test_an_order_that_is_too_weak_is_followed_by_one_that_is_not(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    one, other = Orders(store, "run", 1), Orders(store, "run", 2)
    one.give(120, ends=False)
    assert other.give(118, ends=True) == Order(118, True, 2)
    one.look()
    assert [one.at(118), one.at(120)] == [Order(118, True, 2), Order(120, False, 1)]


def test_orders_of_another_run_are_not_looked_at(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    Orders(store, "first", 0).give(5, ends=True)
    second = Orders(store, "second", 0)
    second.look()
    assert second.end() is None


def test_a_look_that_fails_is_remembered_and_the_next_one_learns_it_all(tmp_path: Path) -> None:
    class Flaky(FileStore):
        is_down = True

        def read(self, key: str) -> bytes | None:
            if self.is_down:
                raise StoreError("no answer")
            return super().read(key)

    store = Flaky(tmp_path)
    Orders(FileStore(tmp_path), "run", 0).give(5, ends=True)
    orders = Orders(store, "run", 1)
    orders.look()
    assert (orders.problem, orders.end()) == ("no answer", None)
    store.is_down = False
    orders.look()
    assert (orders.problem, orders.end()) == ("", 5)


def test_a_thread_looks_while_training_goes_on_and_ends_with_it(tmp_path: Path) -> None:
    looked = threading.Event()

    class Seen(FileStore):
        def read(self, key: str) -> bytes | None:
            content = super().read(key)
            if content is None:
                looked.set()
            return content

    Orders(FileStore(tmp_path), "run", 0).give(7, ends=True)
    orders = Orders(Seen(tmp_path), "run", 1)
    with orders.watched(0.001):
        assert looked.wait(timeout=60)
        assert orders.end() == 7
    assert "checkpoint-orders" not in {thread.name for thread in threading.enumerate()}


def received(agent: socket.socket) -> list[str]:
    agent.settimeout(30)
    return agent.recv(8192).decode().splitlines()


def test_the_agent_is_told_when_a_save_begins_and_ends_also_one_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as agent:
        agent.bind(str(path))
        hints = Hints(3, job="llama", unix=path)
        with suppress(ZeroDivisionError), hints.saving(40):
            assert received(agent) == ["neuron_fleet.checkpoint:1|g|#job:llama,rank:3"]
            raise ZeroDivisionError
        assert received(agent) == [
            "neuron_fleet.checkpoint:0|g|#job:llama,rank:3",
            "neuron_fleet.step:40|g|#job:llama,rank:3",
        ]


def test_the_agent_is_told_over_udp_where_its_socket_is_not(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.bind(("127.0.0.1", 0))
        with Hints(0, unix=tmp_path / "none", address=agent.getsockname()).saving(1):
            assert received(agent) == ["neuron_fleet.checkpoint:1|g|#rank:0"]


def test_an_agent_that_is_not_there_or_does_not_read_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as agent:
        agent.bind(str(path))
        # Many more than the socket holds: none of them waits.
        for step in range(2_000):
            with Hints(0, unix=path).saving(step):
                pass
    # Its file is there, and nobody behind it.
    with Hints(0, unix=path).saving(1):
        pass


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"AWS_BATCH_JOB_ID": "0a1b-2c#3", "AWS_BATCH_JOB_ATTEMPT": "2"}, "0a1b-2c.2"),
        ({"AWS_BATCH_JOB_ID": "0a1b:7"}, "0a1b-7.1"),
        ({"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "1", "SLURM_RESTART_COUNT": "4"}, "77.1.4"),
        ({"NEURON_FLEET_RUN": "mine", "AWS_BATCH_JOB_ID": "x"}, "mine"),
        ({"AWS_BATCH_JOB_ID": "x", "TORCHELASTIC_RESTART_COUNT": "3"}, "x.1.t3"),
        ({"AWS_BATCH_JOB_ID": "x", "TORCHELASTIC_RESTART_COUNT": "0"}, "x.1"),
    ],
)
def test_a_run_has_one_name_on_every_rank_and_another_at_every_start(environment: dict[str, str], name: str) -> None:
    assert run_name(environment) == name


def test_a_run_that_nobody_names_is_refused() -> None:
    with pytest.raises(CheckpointError, match="no scheduler says which run this is: set NEURON_FLEET_RUN"):
        run_name({})
    with pytest.raises(RunNameError, match="run 'a/b'"):
        run_name({"NEURON_FLEET_RUN": "a/b"})
