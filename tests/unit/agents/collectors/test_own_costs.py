"""What the agent says of its monitor: what it costs, and which package it is of."""

import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.self_usage import MonitorUsage
from agents.collectors.tools_version import ToolsVersion

PROGRAM = Path("/opt/aws/neuron/bin/neuron-monitor")
DPKG = """Package: aws-neuronx-dkms
Status: install ok installed
Version: 2.31.0.0

Package: aws-neuronx-tools
Status: install ok installed
Priority: extra
Description: tools
 Version: of a continuation line
Version: 2.25.145.0

Package: bash
Status: install ok installed
Version: 5.2
"""


def tools_version(root: Path, program: Path = PROGRAM) -> object:
    return ToolsVersion(program, root).collect(Request(0)).event.get("neuron_tools_version")


def dpkg(root: Path, text: str = DPKG) -> None:
    path = root / "var/lib/dpkg/status"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def header(**fields: tuple[int, str]) -> bytes:
    """An rpm header with string entries: name, version and so on by tag."""
    data, entries = b"", b""
    for tag, text in fields.values():
        entries += struct.pack(">IIII", tag, 6, len(data), 1)
        data += text.encode() + b"\0"
    return struct.pack(">II", len(fields), len(data)) + entries + data


def rpm(root: Path, *blobs: bytes, where: str = "var/lib/rpm") -> None:
    path = root / where / "rpmdb.sqlite"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL)")
        connection.execute("CREATE TABLE Name (key TEXT NOT NULL, hnum INTEGER NOT NULL, idx INTEGER NOT NULL)")
        for number, blob in enumerate(blobs, 1):
            connection.execute("INSERT INTO Packages VALUES (?, ?)", (number, blob))
            connection.execute("INSERT INTO Name VALUES ('aws-neuronx-tools', ?, 0)", (number,))


def test_the_version_is_in_dpkgs_status(tmp_path: Path) -> None:
    dpkg(tmp_path)

    assert tools_version(tmp_path) == "2.25.145.0"


def test_a_removed_package_has_no_version(tmp_path: Path) -> None:
    dpkg(tmp_path, DPKG.replace("ok installed", "ok config-files"))

    assert tools_version(tmp_path) is None


@pytest.mark.parametrize("where", ["var/lib/rpm", "usr/lib/sysimage/rpm"])
def test_the_version_is_in_rpms_database(tmp_path: Path, where: str) -> None:
    old = header(name=(1000, "aws-neuronx-tools"), version=(1001, "2.20.0.0"))
    new = header(name=(1000, "aws-neuronx-tools"), version=(1001, "2.25.145.0"), release=(1002, "1"))
    rpm(tmp_path, old, new, where=where)

    assert tools_version(tmp_path) == "2.25.145.0"


def test_without_a_package_database_nothing_is_said(tmp_path: Path) -> None:
    assert ToolsVersion(PROGRAM, tmp_path).collect(Request(0)) == Contribution()


def test_a_monitor_from_elsewhere_is_not_of_the_package(tmp_path: Path) -> None:
    dpkg(tmp_path)

    assert tools_version(tmp_path, tmp_path / "neuron-monitor") is None


def test_a_damaged_database_is_a_problem_for_the_pool_to_name(tmp_path: Path) -> None:
    path = tmp_path / "var/lib/rpm/rpmdb.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(sqlite3.DatabaseError):
        tools_version(tmp_path)


@pytest.mark.parametrize("size", [0, 4, 8, 20, 30])
def test_a_cut_header_has_no_version(tmp_path: Path, size: int) -> None:
    rpm(tmp_path, header(version=(1001, "2.25.145.0"))[:size])

    assert tools_version(tmp_path) is None


def test_the_databases_are_read_again_only_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dpkg(tmp_path)
    version = ToolsVersion(PROGRAM, tmp_path)
    version.collect(Request(0))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda *_: pytest.fail("read again"))
        assert version.collect(Request(60)).event == {"neuron_tools_version": "2.25.145.0"}

    dpkg(tmp_path, DPKG.replace("2.25.145.0", "2.26.0.0"))
    assert version.collect(Request(120)).event == {"neuron_tools_version": "2.26.0.0"}


def test_the_monitors_memory_and_cpu_are_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    # The test's own process has other children.
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = [psutil.Process(child.pid)]
        usage = MonitorUsage()
        monkeypatch.setattr(usage._agent, "children", lambda recursive: found)
        first = usage.collect(Request(0)).event["neuron_monitor"]
        second = usage.collect(Request(60)).event["neuron_monitor"]
    finally:
        child.communicate()
    third = usage.collect(Request(120))

    assert "cpu_percent" not in first
    assert first["rss_bytes"] > 0
    assert second["cpu_percent"] >= 0
    # It has ended, and psutil still names it.
    assert third == Contribution()
