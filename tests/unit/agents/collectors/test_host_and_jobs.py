"""What the host shows: compilers and markers."""

import os
from pathlib import Path

import pytest

from agents.collectors.collector import Request
from agents.collectors.compilers import CompilerCollector
from agents.collectors.markers import MarkerCollector
from agents.collectors.reading.boot_memory import boot_id
from fleet.patience import Announced
from workload.compile_cache.compilers import compiler_pids


def process(proc: Path, pid: int, comm: str = "python3", **environment: str) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(comm + "\n")
    content = b"\0".join(f"{key}={value}".encode() for key, value in environment.items())
    (folder / "environ").write_bytes(content + b"\0")


def test_compilers_and_markers_are_seen(tmp_path: Path) -> None:
    process(tmp_path / "proc", 12, "walrus_driver")
    process(tmp_path / "proc", 9, "neuronx-cc")
    process(tmp_path / "proc", 10)
    (tmp_path / "drain").write_text("")
    (tmp_path / "checkpoint").touch()
    (tmp_path / "validation").write_text("45\n")
    (tmp_path / "waiting").write_text("for long")

    seen = MarkerCollector(tmp_path).collect(Request(0))

    assert seen.draining == "told to drain"
    assert seen.phases == (Announced("checkpoint"), Announced("validation", 45), Announced("waiting"))
    assert compiler_pids(tmp_path / "proc") == (9, 12)
    assert CompilerCollector(tmp_path / "proc").collect(Request(0)).compiling


@pytest.mark.parametrize(
    ("content", "reason"),
    [("  maintenance at noon\n", "maintenance at noon"), ("é" * 5000, "é" * 200), ("", "told to drain")],
)
def test_the_reason_to_drain_is_bounded(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "drain").write_text(content, encoding="utf-8")

    assert MarkerCollector(tmp_path).collect(Request(0)).draining == reason


def test_a_pipe_in_the_place_of_a_marker_does_not_hold_up_the_others(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "drain")

    assert MarkerCollector(tmp_path).collect(Request(0)).draining == "told to drain"


def test_a_host_that_shows_nothing_is_quiet(tmp_path: Path) -> None:
    seen = MarkerCollector(tmp_path).collect(Request(0))

    assert (seen.draining, seen.checkpoint, boot_id(tmp_path)) == (None, False, "")
    assert not CompilerCollector(tmp_path).collect(Request(0)).compiling
