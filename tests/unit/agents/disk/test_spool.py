"""The spool and the spooled: nothing is lost that need not be."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.disk.lane import Dropped
from agents.disk.minutes import SequenceFile
from agents.disk.spool import Spool
from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support.agents import MINUTE
from tests.support.sinks import MemorySink, batch, publish


def test_a_confirmed_batch_leaves_the_disk(tmp_path: Path) -> None:
    sink = MemorySink()
    spool = Spool(tmp_path, ("logs",))

    publish(SpooledSinks(spool, [sink]), batch(1), MINUTE + 60)

    assert sink.taken == [1]
    assert spool.size == 0
    assert not list(tmp_path.glob("logs/*"))


@pytest.mark.parametrize("error", [SinkError("throttled"), TimeoutError("late"), RuntimeError("a bug in a sink")])
def test_a_failing_sink_keeps_its_batches_and_the_other_sink_gets_them(tmp_path: Path, error: Exception) -> None:
    failing, working = MemorySink("metrics"), MemorySink("logs")
    failing.error = error
    spooled = SpooledSinks(Spool(tmp_path, ("metrics", "logs")), [failing, working])

    publish(spooled, batch(1), MINUTE + 60)
    publish(spooled, batch(2), MINUTE + 120)

    assert working.taken == [1, 2]
    assert spooled.retries() == 2
    assert spooled.retries() == 0


def test_after_an_outage_the_newest_goes_first(tmp_path: Path) -> None:
    sink = MemorySink()
    sink.error = SinkError("down")
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    publish(spooled, batch(1), MINUTE + 60)
    publish(spooled, batch(2), MINUTE + 120)
    sink.error = None

    publish(spooled, batch(3), MINUTE + 180)

    assert sink.taken == [3, 2, 1]
    assert spooled.spool.dropped() == {}


def test_a_restarted_agent_sends_what_the_last_one_could_not(tmp_path: Path) -> None:
    sink = MemorySink()
    sink.error = SinkError("down")
    first = Spool(tmp_path, ("logs",))
    publish(SpooledSinks(first, [sink]), batch(1), MINUTE + 60)
    sink.error = None

    again = Spool(tmp_path, ("logs",))
    publish(SpooledSinks(again, [sink]), batch(2), MINUTE + 120)

    assert sink.taken == [2, 1]


def test_metrics_older_than_their_sinks_limit_are_left_to_the_log(tmp_path: Path) -> None:
    sink = MemorySink("metrics", longest_age=3 * 3600, is_record=False)
    sink.error = SinkError("down")
    spooled = SpooledSinks(Spool(tmp_path, ("metrics",)), [sink])
    publish(spooled, batch(1), MINUTE + 60)
    sink.error = None

    publish(spooled, batch(200), MINUTE + 60 * 200)

    assert sink.taken == [200]
    assert spooled.spool.dropped() == {}


def test_a_log_event_older_than_its_sinks_limit_is_dropped_and_counted(tmp_path: Path) -> None:
    sink = MemorySink()
    sink.error = SinkError("down")
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    publish(spooled, batch(1), MINUTE + 60)

    publish(spooled, batch(21_000), MINUTE + 60 * 21_000)

    assert sum(spooled.spool.dropped().values()) == 1


def test_a_refused_batch_is_not_sent_again(tmp_path: Path) -> None:
    sink = MemorySink()
    sink.error = SinkRejectedError("the value is not a number")
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])
    publish(spooled, batch(1), MINUTE + 60)
    sink.error = None

    publish(spooled, batch(2), MINUTE + 120)

    assert sink.taken == [2]
    assert sum(spooled.spool.dropped().values()) == 1


def test_a_full_spool_gives_up_the_oldest(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ("logs",), limit=5000)
    for index in range(1, 5):
        spool.put("logs", batch(index, padding=3000))

    kept = [spool.read("logs", name) for name in spool.newest_first("logs")]

    assert spool.size <= 5000
    assert kept
    assert kept[0] is not None
    assert kept[0].seq == 4
    assert spool.dropped() == {Dropped.NO_ROOM: 4 - len(kept)}


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-5],
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        lambda content: zlib.compress(b'{"minute": 1}'),
        lambda content: b"\x00" * 50,
    ],
)
def test_a_damaged_file_is_skipped_and_counted(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    sink = MemorySink()
    spool = Spool(tmp_path, ("logs",))
    spool.put("logs", batch(1))
    path = next(tmp_path.glob("logs/*"))
    path.write_bytes(damage(path.read_bytes()))
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])

    publish(spooled, batch(2), MINUTE + 120)

    assert sink.taken == [2]
    assert sum(spooled.spool.dropped().values()) == 1


def test_a_batch_that_always_fails_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    class Picky(MemorySink):
        def send(self, batch: Batch) -> int:
            if batch.seq == 3:
                raise SinkError("InternalFailure")
            return super().send(batch)

    sink = Picky()
    spool = Spool(tmp_path, ("logs",))
    spooled = SpooledSinks(spool, [sink])
    for index in (1, 2, 3):
        spooled.keep(batch(index))

    outcomes = [spooled.drain(MINUTE + 240) for _ in range(4)]

    # Three turns end at the newest batch; in the fourth it comes last.
    assert outcomes == [False] * 4
    assert sink.taken == [2, 1]
    assert spool.waiting().batches == 1


def test_sequence_numbers_survive_a_restart_and_a_damaged_file(tmp_path: Path) -> None:
    def next_of_a_new_agent(at_least: int = 0) -> int:
        file = SequenceFile(tmp_path / "sequence", at_least)
        number = file.next()
        file.save()
        return number

    assert [next_of_a_new_agent(), next_of_a_new_agent()] == [1, 2]
    (tmp_path / "sequence").write_text("0000000000000009 00000000")
    # What is known from elsewhere: a batch with number 2 waits in the spool, so the next one is 3.
    assert next_of_a_new_agent(at_least=2) == 3
    assert next_of_a_new_agent() == 4
