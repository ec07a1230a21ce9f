"""The minute in progress: what of it is found by the agent that comes after one that was killed."""

import errno
import os
from pathlib import Path

import pytest

from agents.collectors.jobs.job import Job
from agents.collectors.seen_error import SeenError, Source
from agents.disk.journal import Header, Journal
from agents.minute.pipeline import Pipeline
from agents.minute.window import Reading
from fleet.hardware_errors import HBM_UNCORRECTABLE
from tests.support import agents, samples
from tests.support.agents import MINUTE

HEADER = Header(MINUTE, 7, "boot-1", (Job("a", "llama", "ada", registered=True),))


def reading(index: int) -> Reading:
    """One report of every kind of figure there is."""
    made = samples.full_node(completed=index)
    made["system_data"]["neuron_hw_counters"]["neuron_devices"][3]["mem_ecc_uncorrected"] = 2
    taken = Pipeline(agents.config(), "i-1", MINUTE).line(samples.line(made), MINUTE + 5 * index)
    assert taken is not None
    return taken


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.begin(HEADER)
    readings = (reading(1), reading(2))
    for each in readings:
        journal.append(each)

    found = Journal(tmp_path / "journal").read()

    assert found is not None
    assert (found.header, found.readings, found.torn) == (HEADER, readings, False)
    assert readings[0].errors == (SeenError(HBM_UNCORRECTABLE, 3, 2, (Source.MONITOR_ECC,)),)


def test_wherever_the_last_record_is_cut_the_ones_before_it_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.begin(HEADER)
    journal.append(reading(1))
    whole = path.stat().st_size
    journal.append(reading(2))
    content = path.read_bytes()

    for length in {whole + 1, whole + 7, whole + 8, whole + 9, len(content) - 1}:
        path.write_bytes(content[:length])
        found = Journal(path).read()
        assert found is not None
        assert (len(found.readings), found.torn, found.end) == (1, True, whole)


def test_a_torn_tail_is_overwritten_when_the_minute_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.begin(HEADER)
    journal.append(reading(1))
    with path.open("ab") as stream:
        stream.write(b"\x00\x00\x10\x00torn and longer than the next record" * 1000)
    found = journal.read()
    assert found is not None

    journal.resume(found)
    journal.append(reading(2))

    again = Journal(path).read()
    assert again is not None
    assert (again.readings, again.torn) == ((reading(1), reading(2)), False)


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, b"?" * 100, bytes(range(256))])
def test_a_file_that_is_no_journal_is_said_to_be_damaged_and_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(content)
    journal = Journal(path)

    assert journal.read() is None
    assert journal.is_damaged

    journal.begin(HEADER)
    found = Journal(path).read()
    assert found is not None
    assert found.header == HEADER


def test_no_file_is_no_damage(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")

    assert journal.read() is None
    assert not journal.is_damaged


def test_a_report_that_the_disk_refuses_leaves_no_half_record_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal")
    journal.begin(HEADER)
    journal.append(reading(1))
    write = os.write

    def fills_up(descriptor: int, content: memoryview) -> int:
        if len(content) > 100:
            return write(descriptor, content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as context:
        context.setattr(os, "write", fills_up)
        journal.append(reading(2))
    journal.append(reading(3))

    found = Journal(tmp_path / "journal").read()
    assert found is not None
    assert (found.readings, found.torn) == ((reading(1), reading(3)), False)
