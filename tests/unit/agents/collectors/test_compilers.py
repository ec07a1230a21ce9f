"""Compiler processes on the host."""

import os
from pathlib import Path

from agents.collectors.collector import Contribution, Request
from agents.collectors.compilers import CompilerCollector
from workload.compile_cache.compilers import CompilerProcess, compilers

TICKS = os.sysconf("SC_CLK_TCK")


def process(proc: Path, pid: int, comm: str, state: str = "S", started: float = 0) -> None:
    """A process that began ``started`` seconds after the boot."""
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(comm + "\n")
    before = " ".join(["0"] * 18)
    (folder / "stat").write_text(f"{pid} (a (b) c) {state} {before} {int(started * TICKS)} 0 0\n")


def test_compilers_are_seen_with_their_age(tmp_path: Path) -> None:
    (tmp_path / "uptime").write_text("5000.50 9000.00\n")
    process(tmp_path, 12, "walrus_driver", started=4700)
    process(tmp_path, 9, "neuronx-cc", started=4940)
    process(tmp_path, 10, "python3")

    seen = CompilerCollector(tmp_path).collect(Request(0))

    assert compilers(tmp_path) == (CompilerProcess(9, 60.5), CompilerProcess(12, 300.5))
    # 300.5 is rounded to even.
    assert seen == Contribution(event={"compilers": {"count": 2, "oldest_seconds": 300}}, compiling=True)


def test_a_compiler_that_has_ended_and_waits_for_its_parent_does_not_run(tmp_path: Path) -> None:
    process(tmp_path, 9, "neuronx-cc", state="Z")

    assert CompilerCollector(tmp_path).collect(Request(0)) == Contribution()


def test_where_the_host_does_not_say_when_it_started_there_is_no_age(tmp_path: Path) -> None:
    (tmp_path / "9").mkdir()
    (tmp_path / "9/comm").write_text("neuronx-cc\n")

    seen = CompilerCollector(tmp_path).collect(Request(0))

    assert seen == Contribution(event={"compilers": {"count": 1}}, compiling=True)
