"""What a node can do to its agent: clocks that step, monitors that crash, garbage where jobs are registered."""

import json
import os
from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.jobs.collector import JobCollector
from agents.collectors.jobs.job import Job
from agents.disk.spool import Spool
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from agents.monitor.decode.parse import parse
from agents.monitor.decode.report import Ecc, Hardware
from agents.monitor.ecc import EccWatch
from agents.monitor.process import MonitorExited, MonitorOverlongLine, MonitorStarted
from agents.monitor.supervisor import Supervisor
from agents.sinks.spooled_sinks import SpooledSinks
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.agents import MINUTE
from tests.support.sinks import MemorySink, batch, publish
from tests.unit.agents.monitor.test_monitor import FakeProcess
from tests.unit.agents.test_run import Simulation


def test_a_clock_that_is_set_back_by_an_hour_costs_no_hour_of_silence(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    clock = simulation.clock

    def step() -> None:
        clock._now -= 3600
        clock._due = [(at - 3600, action) for at, action in clock._due]
        clock.schedule(MINUTE - 3600 + 240, simulation._end)

    clock.schedule(MINUTE + 90, step)
    simulation._agent.run(clock, simulation.events, simulation.stop_event)

    minutes = [made.minute - MINUTE for made in simulation.sink.batches]
    assert minutes[:5] == [0, 60, -3540, -3480, -3420]
    assert set(simulation.sink.states()) == {"RUNNING"}
    assert len(simulation.starts) == 1


def test_a_clock_that_leaps_forward_does_not_make_the_monitor_look_silent(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    clock = simulation.clock

    def step() -> None:
        # Between two lines, in the wait for the end of the minute.
        clock._now += 300
        clock._due = [(at + 300, action) for at, action in clock._due]

    clock.schedule(MINUTE + 118, step)
    clock.schedule(MINUTE + 180, simulation._end)
    simulation._agent.run(clock, simulation.events, simulation.stop_event)

    assert len(simulation.starts) == 1
    assert set(simulation.sink.states()) == {"RUNNING"}
    assert [made.minute - MINUTE for made in simulation.sink.batches][:3] == [0, 60, 360]


def test_a_line_that_was_too_long_is_a_problem_of_its_minute(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    clock = simulation.clock
    clock.schedule(MINUTE + 12, lambda: simulation.events.put(MonitorOverlongLine(20_000_000)))

    simulation.run(60)

    assert simulation.sink.batches[0].log_event["problems"] == [
        "1 unreadable lines, the last: 20000000 bytes in one line"
    ]
    assert simulation.sink.states()[0] == "RUNNING"


def test_the_first_report_after_each_start_counts_for_nothing(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    usual = simulation.line
    first = samples.full_node(busy=99.0, completed=1_000)
    for runtime in first["neuron_runtime_data"]:
        runtime["report"]["execution_stats"]["period"] = 0.0005
        runtime["report"]["neuroncore_counters"]["period"] = 0.0005
    start = simulation.start

    def start_with_a_short_report() -> None:
        simulation.line = samples.line(first)
        start()
        simulation.line = usual

    simulation.start = start_with_a_short_report  # type: ignore[method-assign]  # the same monitor, with its first line
    simulation.clock.schedule(MINUTE + 22, simulation.die)
    simulation.run(60)

    # Starts at 0 and about 23. Full reports at 5, 10, 15, 20 and 28, 33, … 58: 11 of 320 executions at 50 percent.
    event = simulation.sink.batches[0].log_event
    assert len(simulation.starts) == 2
    assert event["executions_completed"] == 11 * 320
    assert event["neuron_core_utilization"] == 50.0
    assert event["monitor"] == {"status": "working", "starts": 2}


def test_a_monitor_that_dies_after_each_first_report_leaves_the_node_blind() -> None:
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    spec = samples.RuntimeSpec(1, "a", {0: 90.0}, {0: 1e12}, {0: 1}, 5)
    short = samples.line(samples.report([spec], seconds=0.0005))
    crash = Surroundings(monitor="neuron-monitor ended with code 2")
    states = []
    for minute in range(MINUTE, MINUTE + 180, 60):
        for second in range(0, 60, 2):
            pipeline.line(short, minute + second)
        entry = pipeline.close(minute, minute + 60, 1, crash, SelfFigures())
        states.append(entry.verdict.state)

    assert states[1:] == [NodeState.BLIND, NodeState.BLIND]
    assert "no report covered enough time for 180 s: neuron-monitor ended with code 2" in entry.verdict.reason


def test_one_line_does_not_end_the_back_off_of_a_monitor_that_crashes() -> None:
    supervisor = Supervisor(FakeProcess(), 5, "i-1")
    for now in range(0, 600, 60):
        supervisor.heard(MonitorStarted(1), now)
        supervisor.works(now + 0.1, Hardware())
        supervisor.heard(MonitorExited(2), now + 0.2)

    assert supervisor.deadline() - 540.2 > 29


def test_a_null_in_a_list_or_table_costs_that_entry_only() -> None:
    made = samples.full_node()
    made["neuron_runtime_data"].append(None)
    counters = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    counters["0"] = None

    report = parse(samples.line(made))

    assert report.runtimes is not None
    first = report.runtimes[0].rates
    assert first is not None
    assert 0 not in first.utilization
    assert len(first.utilization) == 31


def test_a_registered_job_without_any_process_wastes_its_nodes_and_completes_nothing() -> None:
    around = Surroundings(Contribution(jobs=(Job("a", "llama", "ada", registered=True),)))
    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    agents.feed(pipeline, MINUTE, samples.full_node(), around=around)

    entry = agents.feed(pipeline, MINUTE + 60, samples.report([]), around=around)

    assert entry.verdict.state is NodeState.RUNNING
    assert entry.figures.completed == 0
    assert entry.wasted_usd_per_hour == 20.0


def test_garbage_among_the_registrations_neither_blocks_nor_floods(tmp_path: Path) -> None:
    (tmp_path / "a-good.json").write_text(json.dumps({"job_id": "a", "name": "n" * 9_000}))
    # Nobody writes to the pipe: reading it would wait for ever.
    os.mkfifo(tmp_path / "a-pipe.json")
    (tmp_path / "b-folder.json").mkdir()
    (tmp_path / "c-huge.json").write_bytes(b"x" * 20_000)
    for index in range(100):
        (tmp_path / f"d{index:03d}.json").write_text("{")

    seen = JobCollector(tmp_path, tmp_path / "proc").collect(Request(0))

    assert [(job.job_id, len(job.name)) for job in seen.jobs or ()] == [("a", 256)]
    assert len(seen.problems) == 20


def test_a_stranger_in_the_spool_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/core.batch").write_bytes(b"?")
    sink = MemorySink()

    publish(SpooledSinks(Spool(tmp_path, ("logs",)), [sink]), batch(1), MINUTE + 60)

    assert sink.taken == [1]
    assert (tmp_path / "logs/core.batch").exists()


def test_a_disk_that_has_become_read_only_does_not_stop_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = MemorySink()
    spooled = SpooledSinks(Spool(tmp_path, ("logs",)), [sink])

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "unlink", refuse)
    publish(spooled, batch(1), MINUTE + 60)
    publish(spooled, batch(2), MINUTE + 120)

    assert sink.taken == [1, 2]


def test_old_batches_on_a_slow_line_wait_for_the_next_minute(tmp_path: Path) -> None:
    sink = MemorySink()
    spool = Spool(tmp_path, ("logs",))
    for index in range(1, 10):
        spool.put("logs", batch(index))

    publish(SpooledSinks(spool, [sink], lambda: 6.0 * len(sink.taken)), batch(10), MINUTE + 600)

    assert sink.taken == [10, 9, 8]


def test_a_full_spool_gives_up_the_oldest_batch_of_any_lane(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ("logs", "metrics"), limit=2_500)
    spool.put("logs", batch(1, padding=1_000))
    spool.put("metrics", batch(2, padding=1_000))
    spool.put("metrics", batch(3, padding=2_000))

    assert spool.newest_first("logs") == []
    assert spool.newest_first("metrics")[0].endswith("3.batch")


def test_a_counter_that_stays_where_it_is_is_no_new_error() -> None:
    watch = EccWatch()
    device = Ecc(5, {"mem_ecc_uncorrected": 2})

    assert [seen.count for seen in watch.new_errors([device])] == [2]
    assert watch.new_errors([device]) == ()
