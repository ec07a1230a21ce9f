"""What workloads report over the sockets, and what becomes of it."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request, WorkloadReport, merged
from agents.collectors.vetting import vetted
from agents.collectors.workload.collector import WorkloadCollector
from agents.collectors.workload.statsd import parse
from agents.collectors.workload.work import Work
from fleet import metrics
from fleet.patience import Announced
from tests.support.workload import listening, say

ROOT = Path(__file__).parents[5]


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
    assert merged([vetted("workload", seen), Contribution()]).workload_reports == (WorkloadReport("a", 2, 8, 0.3, 0.6),)


def test_a_checkpoint_lasts_from_its_beginning_to_its_end_and_not_for_ever(tmp_path: Path) -> None:
    begin, end = "neuron_fleet.checkpoint:1|g|#job:a", "neuron_fleet.checkpoint:0|g|#job:a"
    with listening(tmp_path) as collector:
        whole = [bool(seen.phases) for seen in minutes(collector, (begin, end), (begin,), (), (end,), ())]
        say(collector, begin)
        endless = [bool(collector.collect(Request(600 + 60 * minute)).phases) for minute in range(47)]

    # The last line ended the one before; what ends in a minute was open when it began, which the minute before said.
    assert whole == [True, True, True, False, False]
    # Forgotten after three quarters of an hour, as the node's state does.
    assert endless == [True] * 45 + [False] * 2


def test_a_job_announces_a_phase_and_its_patience(tmp_path: Path) -> None:
    begin = "neuron_fleet.phase:1|g|#job:a,rank:0,phase:validation,minutes:45"
    other = "neuron_fleet.phase:1|g|#job:a,rank:1,phase:validation"
    end = "neuron_fleet.phase:0|g|#job:a,rank:0,phase:validation"
    with listening(tmp_path) as collector:
        said = [seen.phases for seen in minutes(collector, (begin, other), (end,), ())]

    # The most patient rank of the first minute; then the one that has not ended.
    assert said[:2] == [(Announced("validation", 45.0, "a"),), (Announced("validation", None, "a"),)]


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


def test_serving_processes_say_what_they_have_in_flight_and_how_long_it_waited() -> None:
    work = Work()
    for line in (
        b"neuron_fleet.requests_in_flight:4|g|#rank:a",
        b"neuron_fleet.requests_in_flight:8|g|#rank:a",
        b"neuron_fleet.requests_in_flight:2|g|#rank:b",
        b"neuron_fleet.queue_seconds:0.1:0.3|d|#rank:a",
        b"neuron_fleet.queue_seconds:800|ms|#rank:b",
    ):
        sample = parse(line)
        assert sample is not None
        work.add(sample)

    assert [report.properties() for report in work.reports()] == [
        {
            "ranks": 2,
            "queue_seconds_mean": 0.4,
            "queue_seconds_max": 0.8,
            "requests_in_flight_mean": 8.0,
            "requests_in_flight_max": 10.0,
        }
    ]
