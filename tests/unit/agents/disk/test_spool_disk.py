"""The spool on a disk that is full, read-only, in the way or half written, and how much of an outage it holds."""

import errno
import os
from pathlib import Path

import pytest

from agents.disk.lane import Dropped
from agents.disk.spool import LIMIT_BYTES, Spool
from agents.minute.aggregate import batch_of
from agents.sinks.cloudwatch import CloudWatchSink, EmfLogsSink
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support.agents import MINUTE
from tests.support.large_node import trn2_minute
from tests.support.sinks import MemorySink, batch, publish
from workload import durable_file


class Disk:
    """The agent's disk, which a test can fill."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: OSError | None = None
        self._replace = durable_file.replace_file
        monkeypatch.setattr(durable_file, "replace_file", self.replace_file)

    def replace_file(self, path: Path | str, content: bytes, *, through: bool = True) -> None:
        if self.error is not None:
            raise self.error
        self._replace(path, content, through=through)


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_takes_nothing_does_not_stop_publishing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    sink = MemorySink()
    spool = Spool(tmp_path, ("logs",))
    Disk(monkeypatch).error = OSError(number, os.strerror(number))

    publish(SpooledSinks(spool, [sink]), batch(1), MINUTE + 60)

    assert sink.taken == [1]
    assert spool.waiting().batches == 0


def test_batches_wait_in_memory_for_a_full_disk_and_move_there_when_it_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    disk.error = FULL
    spool = Spool(tmp_path, ("metrics", "logs"))
    for index in (1, 2):
        spool.put("metrics", batch(index))
        spool.put("logs", batch(index))
    assert spool.waiting().in_memory == 4
    assert spool.size > 0
    disk.error = None

    spool.put("logs", batch(3))

    assert spool.waiting().in_memory == 0
    assert len(list(tmp_path.glob("*/*.batch"))) == 5
    again = Spool(tmp_path, ("metrics", "logs"))
    assert [again.read("logs", name) for name in again.newest_first("logs")] == [batch(3), batch(2), batch(1)]
    assert again.size == spool.size


def test_memory_is_bounded_and_what_it_cannot_hold_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Disk(monkeypatch).error = FULL
    spool = Spool(tmp_path, ("logs",), memory_limit=5_000)

    for index in range(1, 11):
        spool.put("logs", batch(index, padding=1_000))

    # A thousand hexadecimal digits are 500 random bytes and no less, so ten batches have more than 5,000 bytes.
    assert 3_000 < spool.size <= 5_000
    kept = spool.waiting().in_memory
    assert spool.dropped() == {Dropped.NO_ROOM: 10 - kept}
    assert spool.read("logs", spool.newest_first("logs")[0]) is not None


def test_a_folder_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("in the way")
    spool = Spool(tmp_path / "spool", ("logs",))
    spool.put("logs", batch(1))
    assert spool.waiting().in_memory == 1
    (tmp_path / "spool").unlink()

    spool.put("logs", batch(2))

    assert spool.waiting().in_memory == 0
    assert len(list(tmp_path.glob("spool/logs/*.batch"))) == 2


def test_half_a_file_of_a_killed_agent_is_cleared_away_and_a_stranger_is_not(tmp_path: Path) -> None:
    (tmp_path / "logs/000000000060-0000000001.batch").mkdir(parents=True)
    half = tmp_path / "logs/000000000060-0000000002.batch.writing"
    half.write_bytes(b"half")
    stranger = tmp_path / "logs/notes.writing"
    stranger.write_text("mine")

    spool = Spool(tmp_path, ("logs",))

    assert spool.waiting().batches == 0
    assert not half.exists()
    assert stranger.exists()


def test_a_disk_that_fails_to_read_just_now_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = MemorySink()
    spool = Spool(tmp_path, ("logs",))
    spooled = SpooledSinks(spool, [sink])
    spooled.keep(batch(1))

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as context:
        context.setattr("builtins.open", refuse)
        spooled.drain(MINUTE + 60)
    assert sink.taken == []
    spooled.drain(MINUTE + 120)

    assert sink.taken == [1]
    assert spool.dropped() == {}


def test_72_hours_of_a_full_trn2_node_fit(tmp_path: Path) -> None:
    made = batch_of(trn2_minute(MINUTE))
    spool = Spool(tmp_path, ("metrics", "logs"))
    sizes = {}
    for sink in (CloudWatchSink("us-east-2"), EmfLogsSink("us-east-2", "/g")):
        before = spool.size
        spool.put(sink.name, sink.part(made))
        sizes[sink.name] = spool.size - before

    # 4,320 minutes of log events and the 180 minutes that the metrics lane keeps; half of the room is left for more.
    total = 4_320 * sizes["logs"] + 180 * sizes["metrics"]
    print(  # noqa: T201 - a figure to be read
        f"72 h: {sizes} bytes a batch, {total / 1e6:.1f} of {LIMIT_BYTES / 1e6:.1f} MB"
    )
    assert total < 0.7 * LIMIT_BYTES
