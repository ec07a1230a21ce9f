"""The sockets that workloads write to: who may, what stands in the way, and what too much of it costs."""

import socket
import stat
import time
from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.workload import receiver as workload_receiver
from agents.collectors.workload.collector import dropped
from agents.collectors.workload.receiver import Receiver
from fleet import metrics
from tests.support.workload import listening, say, say_locally, send


def test_the_unix_socket_is_open_to_every_user_and_carries_the_same_lines(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        collector.collect(Request(0))
        say_locally(tmp_path, "neuron_fleet.tokens:60|c|#job:a", "neuron_fleet.loss:1|g|#job:a")
        seen = collector.collect(Request(60))

        assert stat.S_IMODE((tmp_path / "statsd.sock").stat().st_mode) == 0o666

    assert seen.job_metrics["a"][metrics.TOKENS_PER_SECOND] == 1.0
    assert not (tmp_path / "statsd.sock").exists()


def test_a_socket_that_a_killed_agent_left_behind_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(tmp_path / "statsd.sock"))

    with listening(tmp_path) as collector:
        assert collector.collect(Request(0)) == Contribution()
        say_locally(tmp_path, "neuron_fleet.step:1|g")
        assert collector.collect(Request(60)).event["workload"]["jobs"][0]["step"] == 1


def test_a_port_in_use_is_a_problem_until_it_is_free_and_the_unix_socket_works_meanwhile(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with listening(tmp_path, port) as collector:
            say_locally(tmp_path, "neuron_fleet.step:1|g")
            seen = collector.collect(Request(0))
            assert seen.problems == (f"workload: UDP port {port}: Address already in use",)
            assert seen.event["workload"]["jobs"][0]["step"] == 1

            other.close()
            assert collector.collect(Request(60)).problems == ()


def test_without_a_port_the_unix_socket_alone_is_read(tmp_path: Path) -> None:
    with listening(tmp_path, None) as collector:
        say_locally(tmp_path, "neuron_fleet.step:1|g")
        seen = collector.collect(Request(0))

        assert collector.receiver.port is None

    assert seen.problems == ()
    assert seen.event["workload"]["jobs"][0]["step"] == 1


def test_what_stands_in_the_place_of_the_unix_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "statsd.sock").write_text("mine")

    with listening(tmp_path) as collector:
        assert collector.collect(Request(0)).problems == ("workload: statsd.sock: is there and is not a socket",)

    assert (tmp_path / "statsd.sock").read_text() == "mine"


def test_a_second_agent_does_not_take_the_first_ones_socket(tmp_path: Path) -> None:
    with listening(tmp_path) as first, listening(tmp_path) as second:
        assert second.collect(Request(0)).problems == ("workload: statsd.sock: another program reads it",)
        say_locally(tmp_path, "neuron_fleet.step:1|g")
        assert first.collect(Request(0)).event["workload"]["jobs"][0]["step"] == 1


def test_a_run_directory_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    with listening(tmp_path / "missing") as collector:
        assert collector.collect(Request(0)).problems == ("workload: statsd.sock: No such file or directory",)


def test_bad_lines_are_counted_beside_the_good_ones_and_nothing_falls_over(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        collector.collect(Request(0))
        send(collector, b"\xff\xff\n\nneuron_fleet.loss:x|g\nneuron_fleet.step:3|g\nneuron_fleet.new:1|g")
        send(collector, b"x" * 8193)
        send(collector, b"")
        seen = collector.collect(Request(60))

    assert seen.event["workload"] == {
        "jobs": [{"ranks": 1, "step": 3}],
        "rejected": 2,
        "ignored": 1,
        "oversized": 1,
    }
    assert seen.problems == ("workload: 2 lines rejected, the last: unknown name",)


def test_jobs_and_ranks_are_bounded(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        collector.collect(Request(0))
        for job in range(18):
            say(collector, f"neuron_fleet.step:1|g|#job:{job}")
        for first in range(0, 260, 20):
            say(collector, *(f"neuron_fleet.step:1|g|#job:0,rank:{rank}" for rank in range(first, first + 20)))
        seen = collector.collect(Request(60))

    # 16 jobs of 18; job 0 has the rank without a name and 255 of the 260.
    assert len(seen.event["workload"]["jobs"]) == 16
    assert max(job["ranks"] for job in seen.event["workload"]["jobs"]) == 256
    assert seen.event["workload"]["rejected"] == 2 + 5


def test_a_flood_costs_a_bounded_part_of_the_minute_and_the_next_one_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload_receiver, "_DISCARD_PAUSE", 0.001)
    accepted: list[bytes] = []
    receiver = Receiver(0, tmp_path / "s", accepted.append, allowance=640)
    try:
        receiver.open()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(60)
            # More than a socket holds: the sender would wait for ever if the rest were not read.
            for _ in range(2000):
                sender.sendto(b"x", str(tmp_path / "s"))
            limit = time.monotonic() + 60
            while receiver.discarded < 1990:
                assert time.monotonic() < limit
            # Each datagram costs at least 64 of the 640 bytes.
            assert len(accepted) == 10

            assert receiver.exchange(lambda: receiver.discarded) == 1990
            sender.sendto(b"next", str(tmp_path / "s"))
            receiver.exchange(lambda: None)
    finally:
        receiver.close()

    assert accepted == [b"x"] * 10 + [b"next"]


def test_what_the_kernel_dropped_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    with listening(tmp_path) as collector:
        port = collector.receiver.port or 0
        table = (
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref"
            " pointer drops\n"
            "  1: 00000000:0044 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 77\n"
            f"  2: 0100007F:{port:04X} 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 5\n"
        )
        (tmp_path / "proc/net/udp").write_text(table)
        first, second = collector.collect(Request(0)), collector.collect(Request(60))

    assert first.event == {"workload": {"kernel_drops": 5}}
    assert second.event == {}
    assert (dropped(tmp_path / "nowhere", 8125), dropped(tmp_path / "proc", None)) == (0, 0)
