"""Who sends, and when: never the loop on a node, always before time moves on in lockstep."""

import threading
from pathlib import Path

import pytest

from agents.disk.spool import Spool
from agents.errors import SinkError
from agents.minute.batch import Batch
from agents.sinks.delivery import LAST_TURN, RETRIES, SPREAD, BackgroundDelivery, Delivery, backoff, share
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support.agents import MINUTE
from tests.support.sinks import MemorySink, batch

LIMIT = 60.0


class SlowSink(MemorySink):
    """Answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.may_answer = threading.Event()

    def send(self, batch: Batch) -> int:
        self.asked.set()
        assert self.may_answer.wait(LIMIT)
        return super().send(batch)


class FailingSink(MemorySink):
    """Refuses for now, and says when it has done so ``times``."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.enough = threading.Event()
        self._left = times

    def send(self, batch: Batch) -> int:
        self._left -= 1
        if self._left == 0:
            self.enough.set()
        raise SinkError("throttled")


def in_background(spooled: SpooledSinks) -> BackgroundDelivery:
    return BackgroundDelivery(spooled, lambda: MINUTE + 60.0, node="i-1", pause=lambda _: False)


def test_the_loop_does_not_wait_for_a_sink_that_hangs(tmp_path: Path) -> None:
    sink = SlowSink()
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    delivery = in_background(spooled)

    delivery.deliver(batch(1))
    assert sink.asked.wait(LIMIT)
    # The sink has not answered, and the loop has the next two minutes on disk already.
    delivery.deliver(batch(2))
    delivery.deliver(batch(3))
    assert sink.taken == []
    sink.may_answer.set()
    delivery.stop(LIMIT)

    assert sorted(sink.taken) == [1, 2, 3]
    assert spooled.spool.waiting().batches == 0


def test_a_thread_that_does_not_end_is_left_behind_with_its_batches_on_disk(tmp_path: Path) -> None:
    sink = SlowSink()
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    delivery = in_background(spooled)
    spooled.keep(batch(1))
    delivery.wake()
    assert sink.asked.wait(LIMIT)

    delivery.stop(limit=0.01)

    assert Spool(tmp_path, ("logs",)).waiting().batches == 1
    sink.may_answer.set()
    delivery.stop(LIMIT)


def test_a_failed_turn_is_tried_again_later_and_later_and_not_for_ever(tmp_path: Path) -> None:
    sink = FailingSink(times=1 + RETRIES)
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    spooled.keep(batch(1))
    pauses: list[float] = []

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        return sink.enough.is_set()

    delivery = BackgroundDelivery(spooled, lambda: MINUTE + 60.0, node="i-7", pause=pause)
    delivery.wake()
    assert sink.enough.wait(LIMIT)
    delivery.stop(LIMIT)

    # Its place in the minute, and before each attempt after the first a longer pause. The agent's end asks for none.
    assert 0 <= pauses[0] <= SPREAD
    assert 2.5 <= pauses[1] <= 5 <= pauses[2] <= 10
    assert spooled.retries() == 1 + RETRIES + 1
    # Everything is over before the next minute's batch comes.
    assert SPREAD + 5 + 10 < 60


def test_a_fleet_spreads_its_sending_over_the_minute() -> None:
    moments = sorted(SPREAD * share(f"i-{index:017x}", "spread") for index in range(1000))

    # A thousand nodes over twenty seconds: fifty in each, give or take.
    for second in range(int(SPREAD)):
        assert 20 <= sum(second <= moment < second + 1 for moment in moments) <= 80
    assert len({backoff(f"i-{index}", 1) for index in range(50)}) == 50


def test_an_error_that_nobody_foresaw_does_not_end_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = MemorySink()
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    spooled.keep(batch(1))
    failed = threading.Event()
    drain = spooled.drain

    def fails_once(now: float) -> bool:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("a bug")
        return drain(now)

    monkeypatch.setattr(spooled, "drain", fails_once)
    delivery = in_background(spooled)

    delivery.wake()
    assert failed.wait(LIMIT)
    delivery.stop(LIMIT)

    assert sink.taken == [1]


def test_in_lockstep_a_batch_is_sent_before_time_moves_on(tmp_path: Path) -> None:
    sink = MemorySink()
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])

    Delivery(spooled, lambda: MINUTE + 60.0).deliver(batch(1))

    assert sink.taken == [1]


def test_the_agents_end_leaves_room_in_systemds_patience() -> None:
    unit = Path("agents/packaging/neuron-fleet-agent.service").read_text(encoding="utf-8")
    patience = next(float(line.partition("=")[2]) for line in unit.splitlines() if line.startswith("TimeoutStopSec="))

    # The last minute's collectors and disk, the last turn, and the monitor: SIGTERM, SIGKILL and two readers.
    assert patience > 5 + LAST_TURN + 4 * 5


class Exporter:
    """Shows batches, or fails to."""

    name = "prometheus"

    def __init__(self) -> None:
        self.shown: list[int] = []
        self.error: Exception | None = None

    def show(self, batch: Batch) -> None:
        if self.error is not None:
            raise self.error
        self.shown.append(batch.seq)


def test_an_exporter_sees_each_fresh_batch_and_its_failure_is_a_problem_of_the_next_minute(tmp_path: Path) -> None:
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [MemorySink()])
    working, failing = Exporter(), Exporter()
    failing.error = ValueError("no such label")
    delivery = Delivery(spooled, lambda: 0.0, (failing, working))

    delivery.deliver(batch(1))
    delivery.keep(batch(2))

    assert working.shown == [1]
    problems = delivery.contribution(MINUTE + 120.0).problems
    assert problems == ("prometheus could not show the last minute: ValueError: no such label",)
    assert delivery.contribution(MINUTE + 180.0).problems == ()


def test_the_log_event_says_what_waits_and_what_was_dropped(tmp_path: Path) -> None:
    sink = MemorySink()
    sink.error = SinkError("down")
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    delivery = Delivery(spooled, lambda: MINUTE + 120.0)
    delivery.deliver(batch(1))
    sink.longest_age = 600.0
    delivery.deliver(batch(2))
    spooled.drain(MINUTE + 60 + 601)

    size, dropped, retries = delivery.figures()
    spool = delivery.contribution(MINUTE + 720.0).event["spool"]

    # The first batch's minute is MINUTE + 60, which is 601 s old; the second's is MINUTE + 120.
    assert (dropped, retries) == (1, 3)
    assert spool == {"bytes": size, "batches": 1, "oldest_age_seconds": 600, "dropped": {"too_old": 1}}
    assert delivery.figures() == (size, 0, 0)
    assert "dropped" not in delivery.contribution(MINUTE + 720.0).event["spool"]
