"""A job whose workers talk over TCP while EFA idles: seen where it is certain enough, and not known elsewhere."""

import os
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.efa.tcp_fallback import Fallback, TcpFallback
from fleet import metrics
from tests.unit.agents.collectors.efa.test_efa import collector, set_counters

GIB, MIB = 1024**3, 1024**2
PID = 4711
BATCH = {"AWS_BATCH_JOB_NUM_NODES": "4"}
HEADER = (
    "Inter-|   Receive                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|\n"
)


def interfaces(folder: Path, pid: Any = PID, **carried: tuple[int, int]) -> None:
    lines = [f"{name:>6}: {rx} 9 0 0 0 0 0 0 {tx} 9 0 0 0 0 0 0\n" for name, (rx, tx) in carried.items()]
    path = folder / f"proc/{pid}/net/dev"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(lines))


def environment(folder: Path, pid: Any = PID, **variables: Any) -> None:
    path = folder / f"proc/{pid}/environ"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(f"{name}={value}\0".encode() for name, value in variables.items()))


def minute(
    folder: Path, tcp: tuple[int, int], efa: tuple[int | None, int | None], pids: Any = (PID,), **job: Any
) -> Fallback | None:
    """What is seen of a minute with so much traffic, after one with some."""
    environment(folder, **(job or BATCH))
    interfaces(folder, eth0=(500, 500))
    watch = TcpFallback(folder / "proc")
    watch.seen(pids, 0, 0)
    interfaces(folder, eth0=(500 + tcp[0], 500 + tcp[1]))
    return watch.seen(pids, *efa)


def test_heavy_traffic_both_ways_without_efa_is_a_fallback(tmp_path: Path) -> None:
    assert minute(tmp_path, (3 * GIB, 2 * GIB), (0, 8 * MIB)) == Fallback(
        True,
        "a job of 4 nodes received 3072 MiB and sent 2048 MiB over TCP in a minute, and EFA carried 8 MiB: "
        "its collectives do not use EFA",
    )


def test_traffic_on_efa_is_no_fallback_whatever_tcp_carries(tmp_path: Path) -> None:
    seen = minute(tmp_path, (3 * GIB, 2 * GIB), (0, 17 * MIB))

    assert seen is not None
    assert not seen.is_seen


@pytest.mark.parametrize(
    ("tcp", "efa"),
    [
        ((30 * GIB, GIB - 1), (0, 0)),
        ((100 * MIB, 30 * GIB), (0, 0)),
        ((0, 0), (0, 0)),
        ((3 * GIB, 3 * GIB), (None, None)),
    ],
    ids=["a data set is loaded", "a checkpoint is written", "nothing happens", "EFA was not read"],
)
def test_everything_else_is_not_known(tmp_path: Path, tcp: tuple[int, int], efa: tuple[int | None, int | None]) -> None:
    assert minute(tmp_path, tcp, efa) is None


@pytest.mark.parametrize(
    ("variables", "is_known"),
    [
        ({"SLURM_JOB_NUM_NODES": "2"}, True),
        ({"SLURM_NNODES": "16"}, True),
        ({"WORLD_SIZE": "64", "LOCAL_WORLD_SIZE": "32"}, True),
        ({"WORLD_SIZE": "32", "LOCAL_WORLD_SIZE": "32"}, False),
        ({"AWS_BATCH_JOB_NUM_NODES": "1"}, False),
        ({"AWS_BATCH_JOB_NUM_NODES": "many"}, False),
        ({"WORLD_SIZE": "64", "LOCAL_WORLD_SIZE": "0"}, False),
        ({"PATH": "/bin"}, False),
    ],
)
def test_only_a_job_of_several_nodes_has_collectives_to_fall_back(
    tmp_path: Path, variables: dict[str, str], is_known: bool
) -> None:
    assert (minute(tmp_path, (3 * GIB, 3 * GIB), (0, 0), **variables) is not None) is is_known


def test_bridges_and_the_loopback_carry_nothing_of_their_own(tmp_path: Path) -> None:
    environment(tmp_path, **BATCH)
    interfaces(tmp_path, lo=(0, 0), docker0=(0, 0), veth1=(0, 0), ens5=(0, 0))
    watch = TcpFallback(tmp_path / "proc")
    watch.seen((PID,), 0, 0)
    heavy = (9 * GIB, 9 * GIB)
    interfaces(tmp_path, lo=heavy, docker0=heavy, veth1=heavy, ens5=(5, 5))

    assert watch.seen((PID,), 0, 0) is None


def test_no_process_and_a_process_that_is_gone_tell_nothing(tmp_path: Path) -> None:
    assert minute(tmp_path, (3 * GIB, 3 * GIB), (0, 0), pids=()) is None
    assert minute(tmp_path, (3 * GIB, 3 * GIB), (0, 0), pids=(1, 2)) is None


def test_another_process_is_a_new_start_and_the_same_one_is_kept(tmp_path: Path) -> None:
    for pid in (5, 6):
        environment(tmp_path, pid, **BATCH)
        interfaces(tmp_path, pid, eth0=(0, 0))
    watch = TcpFallback(tmp_path / "proc")
    watch.seen((5, 6), 0, 0)
    interfaces(tmp_path, 5, eth0=(3 * GIB, 3 * GIB))

    # The order of holders has changed, and process 5 is still followed.
    assert watch.seen((6, 5), 0, 0) is not None
    interfaces(tmp_path, 6, eth0=(900 * GIB, 900 * GIB))
    assert watch.seen((6,), 0, 0) is None


def test_a_table_of_interfaces_is_read_to_its_end_and_no_further_than_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.read
    # The kernel hands such a table out a page at a time.
    monkeypatch.setattr("agents.collectors.reading.read_only.os.read", lambda fd, limit: real(fd, min(limit, 4096)))
    many = {f"eth{n}": (0, 0) for n in range(300)}
    environment(tmp_path, **BATCH)
    interfaces(tmp_path, **many)
    watch = TcpFallback(tmp_path / "proc")
    watch.seen((PID,), 0, 0)
    # 300 lines of about 40 bytes are more than one page; the last line tells.
    interfaces(tmp_path, **{**many, "eth299": (3 * GIB, 3 * GIB)})

    assert watch.seen((PID,), 0, 0) is not None
    (tmp_path / f"proc/{PID}/net/dev").write_text("x" * 10_000_000)
    assert watch.seen((PID,), 0, 0) is None


def test_the_collector_publishes_the_sign_and_says_why(tmp_path: Path) -> None:
    environment(tmp_path, **BATCH)
    interfaces(tmp_path, eth0=(0, 0))
    set_counters(tmp_path, "rdmap0s31", rx_bytes=0, tx_bytes=0)
    follower = collector(tmp_path)
    first = follower.collect(Request(0, (PID,)))
    interfaces(tmp_path, eth0=(2 * GIB, 2 * GIB))
    fallen = follower.collect(Request(60, (PID,)))
    set_counters(tmp_path, "rdmap0s31", rx_bytes=GIB, tx_bytes=GIB)
    healthy = follower.collect(Request(120, (PID,)))

    assert metrics.EFA_FALLBACK_TO_TCP not in first.metrics
    assert fallen.metrics[metrics.EFA_FALLBACK_TO_TCP] == 1
    assert "do not use EFA" in fallen.problems[0]
    assert healthy.metrics[metrics.EFA_FALLBACK_TO_TCP] == 0
    assert healthy.problems == ()


def test_a_node_without_efa_publishes_nothing_of_it(tmp_path: Path) -> None:
    environment(tmp_path, **BATCH)
    interfaces(tmp_path, eth0=(0, 0))

    assert collector(tmp_path).collect(Request(0, (PID,))) == Contribution()
