"""The kernel log as a device and as a file: to its end, without waiting, and within bounds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.collectors.collector import Request
from agents.collectors.kernel_log.collector import KernelLogCollector
from agents.collectors.reading.boot_memory import BootMemory
from fleet.hardware_errors import DMA_ABORT
from tests.support.kernel_log import append, collector, errors, hardware, record


def test_a_log_that_may_not_be_read_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(tmp_path / "kmsg", record(1, hardware("DMA_ERROR")))

    def refuse(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("agents.collectors.kernel_log.records.os.open", refuse)

    assert collector(tmp_path).collect(Request(0)).problems == (
        "the kernel log cannot be read: Operation not permitted",
    )


def test_something_else_in_its_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "kmsg").mkdir()

    assert collector(tmp_path).collect(Request(0)).problems == (
        "the kernel log cannot be read: kmsg is neither a device nor a file",
    )


class Device:
    """A character device whose reads answer as told: a record, or an error to raise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str | OSError) -> None:
        self._answers: Iterator[str | OSError] = iter(answers)
        self.flags = 0
        monkeypatch.setattr("agents.collectors.kernel_log.records.os.read", self._read)
        real = os.open

        def opened(path: Path, flags: int) -> int:
            self.flags |= flags
            return real(path, flags)

        monkeypatch.setattr("agents.collectors.kernel_log.records.os.open", opened)

    def _read(self, _: int, limit: int) -> bytes:
        answer = next(self._answers)
        if isinstance(answer, OSError):
            raise answer
        assert len(answer) <= limit
        return answer.encode()


def of_device() -> KernelLogCollector:
    return KernelLogCollector(Path("/dev/null"), BootMemory(Path("/nonexistent"), ""))


def test_the_device_is_read_to_its_end_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(
        monkeypatch,
        record(1, "a") + " SUBSYSTEM=pci\n",
        record(2, hardware("DMA_ERROR")),
        BlockingIOError(),
        record(3, hardware("DMA_ERROR")),
        BlockingIOError(),
    )
    follower = of_device()

    assert errors(follower.collect(Request(0))) == [("dma-abort", 0, 1)]
    assert errors(follower.collect(Request(60))) == [("dma-abort", 0, 1)]
    assert device.flags & os.O_NONBLOCK
    assert device.flags & os.O_ACCMODE == os.O_RDONLY


def test_records_that_were_overwritten_are_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # After record 1 the next one left is 8: 2, 3, 4, 5, 6, 7 are gone, six of them.
    Device(monkeypatch, record(1, "a"), BrokenPipeError(), record(8, hardware("DMA_ERROR")), BlockingIOError())

    seen = of_device().collect(Request(0))

    assert errors(seen) == [("dma-abort", 0, 1)]
    assert seen.problems == ("the kernel log was overwritten: 6 records were never read",)


def test_a_device_that_fails_half_way_keeps_what_it_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = OSError(5, "Input/output error")
    Device(monkeypatch, record(1, hardware("DMA_ERROR")), failure, failure)
    follower = of_device()

    assert errors(follower.collect(Request(0))) == [("dma-abort", 0, 1)]
    assert follower.collect(Request(60)).problems == ("the kernel log cannot be read: Input/output error",)


def test_a_log_that_never_ends_is_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    line = record(1, "flood").encode()
    reads = 0

    def read(*_: int) -> bytes:
        nonlocal reads
        reads += 1
        return line

    monkeypatch.setattr("agents.collectors.kernel_log.records.os.read", read)

    of_device().collect(Request(0))

    assert reads == 50_000


def test_a_file_is_read_in_portions_and_an_endless_line_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.collectors.kernel_log.records._MOST_FILE_BYTES", 100)
    (tmp_path / "kmsg").write_text("x" * 250 + "\n" + record(1, "NEURON_HW_ERR=DMA_ERROR"))
    follower = collector(tmp_path)

    counts = [errors(follower.collect(Request(60 * n))) for n in range(4)]

    assert counts == [[], [], [(DMA_ABORT.kind, None, 1)], []]
