"""What an agent must not keep: it runs for as long as its node, which may be a year."""

import sys
from pathlib import Path

import pytest

from agents.collectors.collector import Request
from agents.collectors.compilers import CompilerCollector
from agents.collectors.jobs.collector import JobCollector
from agents.disk.journal import Header, Journal
from agents.disk.spool import Spool
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support.agents import MINUTE
from tests.support.sinks import MemorySink, batch, publish


@pytest.fixture(name="interned")
def _interned(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is interned while the test runs: Python 3.12, which Ubuntu 24.04 has, never lets go of it."""
    found: set[str] = set()
    intern = sys.intern

    def noted(text: str) -> str:
        found.add(text)
        return intern(text)

    monkeypatch.setattr(sys, "intern", noted)
    return found


def test_the_names_of_batches_are_not_kept_when_they_have_gone(tmp_path: Path, interned: set[str]) -> None:
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [MemorySink()])
    journal = Journal(tmp_path / "journal")

    publish(spooled, batch(1), MINUTE + 60)
    journal.begin(Header(MINUTE, 1, "boot-1"))
    interned.clear()
    publish(spooled, batch(2), MINUTE + 120)
    journal.begin(Header(MINUTE + 60, 2, "boot-1"))

    # The journal's own name is the same every minute.
    assert interned <= {"journal", "journal.writing"}


def test_the_numbers_of_processes_are_not_kept_when_they_have_ended(tmp_path: Path, interned: set[str]) -> None:
    for pid, name in ((4711, "python3"), (4712, "neuronx-cc")):
        (tmp_path / f"proc/{pid}").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/comm").write_text(f"{name}\n")
        (tmp_path / f"proc/{pid}/environ").write_text("SLURM_JOB_ID=1\0")
    collectors = (CompilerCollector(tmp_path / "proc"), JobCollector(tmp_path / "jobs", tmp_path / "proc"))
    interned.clear()

    compilers, jobs = (collector.collect(Request(0, (4711,))) for collector in collectors)

    assert compilers.compiling
    assert [job.pids for job in jobs.jobs or ()] == [None]
    assert not [text for text in interned if text.isdecimal()]
