"""What workloads report over the sockets, and what becomes of it."""

import os
import re
import socket
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.workload import receiver as workload_receiver
from agents.collectors.workload.collector import WorkloadCollector, dropped
from agents.collectors.workload.receiver import Receiver
from fleet import metrics
from tests.support.workload import listening, say, say_locally, send

ROOT = Path(__file__).parents[3]


def minutes(collector: WorkloadCollector, *groups: tuple[str, ...]) -> list[Contribution]:
    """The contributions of minutes with these lines, after a first one that says when counting began."""
    seen = [collector.collect(Request(0))]
    for index, lines in enumerate(groups):
        say(collector, *lines)
        seen.append(collector.collect(Request(60.0 * (index + 1))))
    return seen[1:]


def test_tokens_of_all_ranks_add_up_to_a_rate(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        lines = [
            f"neuron_fleet.tokens:{count}|c|#job:a,rank:{rank}" for rank, count in ((0, 3000), (1, 3600), (0, 600))
        ]

        (seen,) = minutes(collector, tuple(lines))

    # (3000 + 3600 + 600) / 60 s
    assert seen.job_metrics == {"a": {metrics.TOKENS_PER_SECOND: 120.0}}


def test_a_rate_is_averaged_over_the_minute_and_added_up_over_ranks(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        (seen,) = minutes(
            collector,
            (
                "neuron_fleet.samples_per_second:10:20|g|#job:a,rank:0",
                "neuron_fleet.samples_per_second:40|g|#job:a,rank:1",
            ),
        )

    # The mean of 10 and 20, and 40.
    assert seen.job_metrics["a"] == {metrics.SAMPLES_PER_SECOND: 55.0}


def test_of_a_counter_and_a_rate_the_counter_counts(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        (seen,) = minutes(collector, ("neuron_fleet.tokens:600|c", "neuron_fleet.tokens_per_second:99|g"))

    assert seen.job_metrics == {"": {metrics.TOKENS_PER_SECOND: 10.0}}


def test_the_loss_is_the_last_finite_one_of_each_rank_averaged(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        (seen,) = minutes(
            collector,
            (
                "neuron_fleet.loss:9|g|#job:a,rank:0",
                "neuron_fleet.loss:2|g|#job:a,rank:0",
                "neuron_fleet.loss:nan|g|#job:a,rank:0",
                "neuron_fleet.loss:4|g|#job:a,rank:1",
                "neuron_fleet.loss:nan:inf|g|#job:a,rank:1",
            ),
        )

    # (2 + 4) / 2; the same two steps went wrong on both ranks, as far as anybody can tell: the larger count
    assert seen.job_metrics["a"] == {metrics.TRAINING_LOSS: 3.0, metrics.NON_FINITE_LOSS: 2.0}


def test_without_a_finite_loss_there_is_none_and_with_none_bad_the_count_is_zero(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        first, second, third = minutes(collector, ("neuron_fleet.loss:nan|g",), ("neuron_fleet.loss:1|g",), ("x:1|c",))

    assert first.job_metrics == {"": {metrics.NON_FINITE_LOSS: 1.0}}
    assert second.job_metrics == {"": {metrics.TRAINING_LOSS: 1.0, metrics.NON_FINITE_LOSS: 0.0}}
    assert third.job_metrics == {}


def test_counts_of_unknown_duration_make_no_rate(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        say(collector, "neuron_fleet.tokens:600|c")
        first = collector.collect(Request(1000))
        say(collector, "neuron_fleet.tokens:600|c")
        clock_went_back = collector.collect(Request(900))
        say(collector, "neuron_fleet.tokens:600|c")
        then = collector.collect(Request(960))

    assert (first.job_metrics, clock_went_back.job_metrics) == ({}, {})
    assert then.job_metrics == {"": {metrics.TOKENS_PER_SECOND: 10.0}}


def test_steps_go_to_the_log_event(tmp_path: Path) -> None:
    with listening(tmp_path) as collector:
        (seen,) = minutes(
            collector,
            (
                "neuron_fleet.step:7|g|#job:a,rank:0",
                "neuron_fleet.step:8|g|#job:a,rank:1",
                "neuron_fleet.step_seconds:100:200|ms|#job:a,rank:0",
                "neuron_fleet.step_seconds:0.6|h|#job:a,rank:1",
            ),
        )

    # 0.9 seconds in three steps.
    job = {"job": "a", "ranks": 2, "step": 8, "step_seconds_mean": 0.3, "step_seconds_max": 0.6}
    assert seen.event == {"workload": {"jobs": [job]}}


def test_a_checkpoint_lasts_from_its_beginning_to_its_end_and_not_for_ever(tmp_path: Path) -> None:
    begin, end = "neuron_fleet.checkpoint:1|g|#job:a", "neuron_fleet.checkpoint:0|g|#job:a"
    with listening(tmp_path) as collector:
        whole = [seen.checkpoint for seen in minutes(collector, (begin, end), (begin,), (), (end,), ())]
        say(collector, begin)
        endless = [collector.collect(Request(600 + 60 * minute)).checkpoint for minute in range(17)]

    # The last line ended the one before; what ends in a minute was open when it began, which the minute before said.
    assert whole == [True, True, True, False, False]
    # Forgotten after 15 minutes, as the node's state does.
    assert endless == [True] * 15 + [False] * 2


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


def test_the_example_of_the_documentation_reaches_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs/workload-metrics.md").read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert match is not None
    with listening(tmp_path) as collector:
        collector.collect(Request(0))
        monkeypatch.setitem(os.environ, "AWS_BATCH_JOB_ID", "4e6f#1")
        code = match[1].replace("8125", str(collector.receiver.port))
        names: dict[str, Any] = {"tokens": 8192, "loss": 1.5, "rank": 3}
        exec(compile(code, "example", "exec"), names)  # noqa: S102 - the example is the project's own
        names["agent"].close()
        seen = collector.collect(Request(60))

    assert len(match[1].splitlines()) <= 6
    assert seen.job_metrics["4e6f"] == {
        metrics.TOKENS_PER_SECOND: pytest.approx(136.53, abs=0.01),
        metrics.TRAINING_LOSS: 1.5,
        metrics.NON_FINITE_LOSS: 0.0,
    }
