"""File systems on the network: what the kernel counted, and whether they still answer."""

import hashlib
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.collectors.collector import Request
from agents.collectors.host.collector import HostCollector
from agents.collectors.host.mounts import Counters, Mount, parse
from agents.collectors.host.probe import Answer, MountProbes
from tests.support.host import nfs, show_mounts

LUSTRE = "device 10.0.0.5@tcp:/fsx mounted on /fsx with fstype lustre\n"
HASH = hashlib.sha256(b"/efs").hexdigest()[:12]


def well() -> MountProbes:
    return MountProbes(ask=lambda _: None, patience=60, elapsed=lambda: 0.0)


def test_operations_add_up_and_errors_are_unknown_where_the_kernel_has_no_such_column() -> None:
    # Columns: operations, transmissions, timeouts, sent, received, queued, rtt, execute, errors.
    new = nfs("READ: 10 12 1 100 200 5 300 400 2", "WRITE: 5 5 0 100 200 5 30 40 1", read=7, written=8)
    old = nfs("NULL: 0 0 0 0 0 0 0 0", "READ: 10 12 1 100 200 5 300 400", device="fs-2:/", point="/old\\040one")

    assert parse(f"device proc mounted on /proc with fstype proc\n{new}{LUSTRE}{old}") == (
        Mount("127.0.0.1:/", "/efs", "nfs4", Counters(15, 17, 1, 330, 440, 3, 7, 8)),
        Mount("10.0.0.5@tcp:/fsx", "/fsx", "lustre", None),
        Mount("fs-2:/", "/old one", "nfs4", Counters(10, 12, 1, 300, 400, None, 0, 0)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage\n",
        "device",
        "device x mounted on",
        "device tmpfs mounted on /x with fstype tmpfs\n",
    ],
)
def test_what_is_no_network_mount_is_nothing(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "device a:/ mounted on /a with fstype nfs statvers=1.1\n",
        "device a:/ mounted on /a with fstype nfs statvers=1.1\n\tbytes:\t1 2\n\tper-op statistics\n",
        nfs().replace("per-op statistics", "something else"),
    ],
)
def test_a_section_that_is_cut_short_has_no_counters(text: str) -> None:
    assert [mount.counters for mount in parse(text)] == [None]


@given(st.lists(st.tuples(st.integers(0, 700), st.characters()), max_size=5))
def test_no_damage_to_the_text_makes_it_unreadable(damage: list[tuple[int, str]]) -> None:
    letters = list(nfs("READ: 100 100 0 0 0 0 1000 2000 0", f"WRITE: {'9' * 5000} 1 1 1 1 1 1 1"))
    for place, letter in damage:
        letters[place] = letter

    assert len(parse("".join(letters))) <= 1


def test_the_same_file_system_counts_once_and_mounts_are_bounded() -> None:
    twice = nfs() + nfs(point="/efs/again")
    many = "".join(nfs(device=f"fs-{number}:/") for number in range(20))

    assert [mount.point for mount in parse(twice)] == ["/efs"]
    assert len(parse(many)) == 8


def test_a_minute_has_mean_latencies_and_no_paths(tmp_path: Path) -> None:
    collector = HostCollector(tmp_path, None, well())
    show_mounts(tmp_path, nfs("READ: 100 100 0 0 0 0 1000 2000 0", read=500, written=50))
    first = collector.collect(Request(0))
    show_mounts(tmp_path, nfs("READ: 140 143 1 0 0 0 1500 3000 2", read=900, written=150))
    second = collector.collect(Request(60))

    assert first.event == {"host": {"mounts": [{"kind": "nfs4", "mount_hash": HASH, "answer_ms": 0.0}]}}
    # 40 operations took 500 ms from the wire and 1000 ms in all.
    assert second.event["host"]["mounts"] == [
        {
            "kind": "nfs4",
            "mount_hash": HASH,
            "operations": 40,
            "read_bytes": 400,
            "written_bytes": 100,
            "retransmits": 3,
            "timeouts": 1,
            "errors": 2,
            "rtt_ms": 12.5,
            "execute_ms": 25.0,
            "answer_ms": 0.0,
        }
    ]


def test_a_mount_that_was_idle_has_no_latency_and_one_mounted_anew_has_no_difference(tmp_path: Path) -> None:
    collector = HostCollector(tmp_path, None, well())
    busy = nfs("READ: 100 100 0 0 0 0 1000 2000 0")
    show_mounts(tmp_path, busy)
    collector.collect(Request(0))
    idle = collector.collect(Request(60)).event["host"]["mounts"][0]
    show_mounts(tmp_path, nfs("READ: 3 3 0 0 0 0 10 20 0"))
    anew = collector.collect(Request(120)).event["host"]["mounts"][0]

    assert (idle["operations"], "rtt_ms" in idle) == (0, False)
    assert "operations" not in anew


def test_a_hung_mount_holds_up_nobody_is_named_and_is_not_asked_again(tmp_path: Path) -> None:
    gate, asked = threading.Event(), []

    def ask(point: str) -> None:
        asked.append(point)
        if point == "/efs":
            gate.wait()

    # A look notes the time and then how much is left before each new question: the patience ends before the second.
    times = iter([0.0, 0.0, 100.0] + [0.0] * 4)
    main = threading.current_thread()
    probes = MountProbes(ask, 60, elapsed=lambda: next(times) if threading.current_thread() is main else 0.0)
    show_mounts(tmp_path, LUSTRE, nfs())
    collector = HostCollector(tmp_path, None, probes)
    try:
        seen = [collector.collect(Request(60.0 * minute)) for minute in range(3)]
    finally:
        gate.set()

    assert [each.problems for each in seen] == [
        (),
        (f"nfs4 mount {HASH} does not answer for 60 s",),
        (f"nfs4 mount {HASH} does not answer for 120 s",),
    ]
    assert [each.event["host"]["mounts"][1].get("silent_seconds") for each in seen] == [None, 60, 120]
    assert (asked.count("/efs"), asked.count("/fsx")) == (1, 3)


def test_a_mount_that_comes_back_is_asked_again() -> None:
    gate, ended = threading.Event(), threading.Event()

    def ask(_: str) -> None:
        gate.wait()
        ended.set()

    probes = MountProbes(ask, patience=0.0)
    assert probes.look(["/efs"], 0) == {}
    assert probes.look(["/efs"], 60) == {"/efs": Answer(silent_seconds=60)}
    gate.set()
    assert ended.wait(60)

    limit, answer = time.monotonic() + 60, None
    while (answer is None or answer.seconds is None) and time.monotonic() < limit:
        answer = probes.look(["/efs"], 120).get("/efs")

    assert answer is not None
    assert answer.seconds is not None


def test_a_stale_handle_is_a_problem(tmp_path: Path) -> None:
    def ask(_: str) -> None:
        raise OSError(116, "Stale file handle")

    show_mounts(tmp_path, nfs())

    seen = HostCollector(tmp_path, None, MountProbes(ask, patience=60)).collect(Request(0))

    assert seen.problems == (f"nfs4 mount {HASH}: Stale file handle",)


def test_threads_are_bounded_however_many_mounts_hang() -> None:
    gate, asked = threading.Event(), []

    def ask(point: str) -> None:
        asked.append(point)
        gate.wait()

    probes = MountProbes(ask, patience=0.0)
    for minute in range(5):
        probes.look([f"/mount{minute}-{number}" for number in range(4)], 60.0 * minute)
    gate.set()

    assert len(asked) <= 8


def test_mountstats_that_may_not_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "self/mountstats").mkdir(parents=True)

    with pytest.raises(IsADirectoryError):
        HostCollector(tmp_path, None).collect(Request(0))
