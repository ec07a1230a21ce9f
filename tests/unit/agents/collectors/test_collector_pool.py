"""Collectors are guests: one that hangs, raises or talks nonsense takes nothing from the others."""

import datetime
import math
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents import assemble
from agents.collectors.collector import Collector, Contribution, Request, merged
from agents.collectors.jobs.job import Job
from agents.collectors.pool import CollectorPool
from agents.collectors.seen_error import SeenError
from agents.collectors.vetting import LARGEST_EVENT, vetted
from agents.monitor.process import MonitorEvent, MonitorLine, MonitorStarted
from fleet import metrics
from fleet.hardware_errors import HBM_UNCORRECTABLE
from tests.support import agents, samples
from tests.support.agents import MINUTE, VirtualClock
from tests.support.sinks import RecordingSink


class Says:
    """A collector that does what it is told to."""

    def __init__(self, name: str, act: Callable[[Request], Contribution]) -> None:
        self.name = name
        self.collect = act


def steady() -> Says:
    return Says("steady", lambda request: Contribution(event={"seen": request.now}))


def raises(error: BaseException) -> Says:
    def act(request: Request) -> Contribution:
        raise error

    return Says("broken", act)


class Stuck:
    """Its first answer comes when it is let go; after that it has nothing to say."""

    def __init__(self, name: str = "stuck") -> None:
        self.name = name
        self.gate = threading.Event()
        self.asked = 0

    def collect(self, request: Request) -> Contribution:
        self.asked += 1
        if self.asked > 1:
            return Contribution()
        self.gate.wait()
        error = SeenError(HBM_UNCORRECTABLE, 3, 1)
        return Contribution(
            metrics={metrics.EFA_RETRANSMITS: request.now, metrics.CORES_TOTAL: 9},
            job_metrics={"a": {metrics.NON_FINITE_LOSS: 2, metrics.TRAINING_LOSS: 3.5}},
            event={"seen": "long ago"},
            hardware_errors=(error,),
            jobs=(Job("a", "a", "", registered=True),),
        )


def until_answered(pool: CollectorPool, request: Request) -> Contribution:
    limit = time.monotonic() + 60
    while not (seen := pool.collect(request)).metrics:
        assert time.monotonic() < limit
    return seen


def seconds(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def test_hung_collectors_delay_the_minute_by_less_than_a_second_together_and_are_named() -> None:
    seen: list[Contribution] = []

    def a_minute() -> None:
        pool = CollectorPool([Stuck("one"), raises(OSError("no file")), Stuck("two"), Stuck("three"), steady()])
        seen.append(pool.collect(Request(1)))

    # The deadline leaves a fifth of a second: a busy machine gets three tries.
    assert any(seconds(a_minute) < 1 for _ in range(3))

    assert seen[0].event["seen"] == 1
    assert seen[0].metrics == {}
    assert seen[0].problems == (
        "one: no answer in time",
        "broken: OSError: no file",
        "two: no answer in time",
        "three: no answer in time",
    )


def test_a_collector_that_hangs_on_is_waited_for_once_and_says_for_how_long() -> None:
    stuck = Stuck()
    pool = CollectorPool([stuck, steady()], deadline=0.5)
    pool.collect(Request(0))

    spent = seconds(lambda: [pool.collect(Request(60 * minute)) for minute in range(1, 41)])
    seen = pool.collect(Request(300))

    # Waiting for it each time would take 40 x 0.5 s.
    assert spent < 15
    assert seen.problems == ("stuck: no answer for 5 min",)
    assert seen.event["collectors"]["stuck"] == {"ok": False}
    assert stuck.asked == 1


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), MemoryError(), RecursionError()]
)
def test_nothing_that_is_raised_ends_a_collector(error: BaseException) -> None:
    pool = CollectorPool([raises(error), steady()], deadline=30)

    for now in (1, 2):
        seen = pool.collect(Request(now))

        assert seen.event["seen"] == now
        assert len(seen.problems) == 1
        assert seen.problems[0].startswith(f"broken: {type(error).__name__}")


def test_what_is_no_contribution_is_a_failure_of_its_collector() -> None:
    nonsense: Any = Says("nonsense", lambda request: None)  # type: ignore[arg-type, return-value]  # on purpose

    seen = CollectorPool([nonsense, steady()], deadline=30).collect(Request(1))

    assert seen.event["seen"] == 1
    assert seen.problems[0].startswith("nonsense: AttributeError")


def test_the_event_says_what_each_collector_cost() -> None:
    cost = CollectorPool([raises(OSError()), steady()], deadline=30).collect(Request(1)).event["collectors"]

    assert (cost["broken"]["ok"], cost["steady"]["ok"]) == (False, True)
    assert all(0 <= each["ms"] < 30_000 for each in cost.values())


def test_a_late_answer_gives_its_counts_and_errors_to_the_next_minute_and_nothing_else() -> None:
    stuck = Stuck()
    pool = CollectorPool([stuck], deadline=0.05)
    assert pool.collect(Request(1)).problems
    assert pool.collect(Request(2)).problems == ("stuck: no answer in time",)

    stuck.gate.set()
    seen = until_answered(pool, Request(3))

    assert seen.metrics == {metrics.EFA_RETRANSMITS: 1}
    assert seen.job_metrics == {"a": {metrics.NON_FINITE_LOSS: 2}}
    assert len(seen.hardware_errors) == 1
    assert seen.jobs is None
    assert "seen" not in seen.event


@pytest.mark.parametrize("fails", [lambda: threading.Event().wait(), lambda: int("x")], ids=["hangs", "raises"])
def test_evidence_of_a_collector_that_fails_is_as_last_seen_for_three_minutes(fails: Callable[[], object]) -> None:
    seen = Contribution(draining="told to drain", compiling=True, checkpoint=True, event={"count": 1})

    def act(request: Request) -> Contribution:
        if request.now > 0:
            fails()
        return seen

    pool = CollectorPool([Says("compilers", act)], deadline=5.0)
    assert pool.collect(Request(0.0)).compiling
    # The first answer has all the time that a busy machine needs.
    pool._deadline = 0.2

    minutes = [pool.collect(Request(60.0 * minute)) for minute in (1, 2, 3, 4)]

    # Nobody could look: a job that compiles is not idle for that. For ever it would excuse a job that hangs.
    assert [(m.draining, m.compiling, m.checkpoint) for m in minutes[:3]] == [("told to drain", True, True)] * 3
    assert (minutes[3].draining, minutes[3].compiling, minutes[3].checkpoint) == (None, False, False)
    assert all("count" not in minute.event for minute in minutes)


def test_a_late_count_is_added_to_the_one_that_is_in_time() -> None:
    late = Contribution(metrics={metrics.EFA_RETRANSMITS: 5, metrics.CORES_TOTAL: 1})

    both = merged([late, Contribution(metrics={metrics.EFA_RETRANSMITS: 2, metrics.CORES_TOTAL: 2})])

    assert both.metrics == {metrics.EFA_RETRANSMITS: 7, metrics.CORES_TOTAL: 2}


def test_figures_that_are_no_numbers_are_dropped_and_said() -> None:
    text: Any = "7"
    said = Contribution(
        metrics={
            metrics.EFA_RECEIVE_BYTES: -1,
            metrics.EFA_TRANSMIT_BYTES: 0,
            metrics.EFA_RETRANSMITS: math.nan,
            metrics.COMPILATION_SECONDS: math.inf,
            metrics.COMPILE_FAILURES: text,
            metrics.CORES_TOTAL: 1e200,
            metrics.NODES_BLIND: 1,
            metrics.TOKENS_PER_SECOND: 1,
        },
        job_metrics={
            ":a": {metrics.TRAINING_LOSS: -3.5},
            "b": {metrics.TRAINING_LOSS: math.nan},
            "": {metrics.EXECUTIONS_COMPLETED: 1},
        },
    )

    seen = vetted("efa", said)

    # A loss may be below zero; a job whose only figure is none has none.
    assert seen.metrics == {metrics.EFA_TRANSMIT_BYTES: 0}
    assert seen.job_metrics == {"a": {metrics.TRAINING_LOSS: -3.5}}
    assert seen.problems == (
        "efa: EfaReceiveBytes counts -1",
        "efa: EfaRetransmits is nan",
        "efa: CompilationSeconds is inf",
        "efa: CompileFailures is no number",
        "efa: CoresTotal is 1e+200",
        "efa: NodesBlind is not for a collector to say",
        "efa: TokensPerSecond is not for a collector to say",
        "efa: TrainingLoss is nan",
        "efa: ExecutionsCompleted is not for a collector to say of a job",
    )


def test_two_spellings_of_a_job_are_one() -> None:
    count = {metrics.NON_FINITE_LOSS: 2}

    assert vetted("statsd", Contribution(job_metrics={"a": count, ":a": count})).job_metrics == {
        "a": {metrics.NON_FINITE_LOSS: 4}
    }


def test_event_properties_are_json_or_left_out() -> None:
    loop: list[Any] = []
    loop.append(loop)
    said = Contribution(
        event={
            "nan": [math.nan, 1],
            "when": datetime.date(2026, 11, 21),
            "lone": "\ud800",
            "loop": loop,
            "thing": object(),
        }
    )

    seen = vetted("x", said)

    assert seen.event == {"nan": [None, 1], "when": "2026-11-21"}
    assert [problem.split(" is ")[0] for problem in seen.problems] == ["x: lone", "x: loop", "x: thing"]


def test_a_collector_cannot_fill_the_log_event() -> None:
    def says(name: str, size: int) -> Says:
        return Says(name, lambda request: Contribution(event={name: "x" * size}))

    huge = says("huge", LARGEST_EVENT)
    many = [says(f"part{index}", 30_000 + index) for index in range(8)]
    seen = CollectorPool([huge, *many, steady()], deadline=30).collect(Request(1))

    # Alone too large; of the others 8 x 30,000 are too much, and without the two largest it fits: 180,000 + a little.
    assert seen.problems[0] == f"huge: huge has {LARGEST_EVENT + 2} bytes and is left out of the log event"
    assert seen.problems[1].endswith("for collectors: part7 (30018 bytes), part6 (30017 bytes)")
    assert set(seen.event) == {f"part{index}" for index in range(6)} | {"seen", "collectors"}


def test_floods_of_problems_and_errors_are_cut_and_said() -> None:
    error = SeenError(HBM_UNCORRECTABLE, 3, 1)
    said = Contribution(problems=("p" * 1000,) * 100, hardware_errors=(error,) * 1000)

    seen = vetted("x", said)

    assert len(seen.hardware_errors) == 256
    assert len(seen.problems) == 31
    assert max(len(problem) for problem in seen.problems) == 500
    # 100 and the one about the errors, of which 30 are shown.
    assert seen.problems[-1] == "71 more problems"


class Monitor:
    """A neuron-monitor that prints one report every five seconds of virtual time."""

    def __init__(self, clock: VirtualClock, events: "queue.Queue[MonitorEvent]") -> None:
        self._clock, self._events = clock, events
        self._line = samples.line(samples.full_node())

    def start(self) -> None:
        self._events.put(MonitorStarted(1))
        self._tick()

    def stop(self, grace: float = 0) -> None:
        """It never has to end."""

    def _tick(self) -> None:
        self._events.put(MonitorLine(self._line))
        self._clock.schedule(self._clock.now() + 5, self._tick)


def test_a_whole_agent_loses_no_minute_to_collectors_that_hang_and_raise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gifts: tuple[Collector, ...] = (Stuck("one"), Stuck("two"), raises(SystemExit(1)), steady())
    monkeypatch.setattr(assemble, "collectors", lambda config: gifts)
    folders = {
        "run_directory": str(tmp_path),
        "spool_directory": str(tmp_path / "spool"),
        "proc": str(tmp_path / "proc"),
    }
    config = agents.config(instance_metadata="", **folders)
    clock, sink, stop = VirtualClock(MINUTE), RecordingSink(), threading.Event()
    events: queue.Queue[MonitorEvent] = queue.Queue()
    monitor: Any = Monitor(clock, events)
    clock.schedule(MINUTE + 240, stop.set)

    spent = seconds(lambda: assemble.agent(config, clock, monitor, (sink,), lockstep=True).run(clock, events, stop))

    minutes = sink.batches[:4]
    assert [batch.minute for batch in minutes] == [MINUTE, MINUTE + 60, MINUTE + 120, MINUTE + 180]
    assert all(batch.log_event["state"] == "RUNNING" for batch in minutes)
    # Twelve reports of 32 cores with 10 executions in each minute, and every minute heard from who could answer.
    assert [batch.log_event["executions_completed"] for batch in minutes] == [3840] * 4
    assert [batch.log_event["seen"] for batch in minutes] == [MINUTE + 60 * index for index in (1, 2, 3, 4)]
    assert "one: no answer for 3 min" in minutes[3].log_event["problems"]
    # Both are waited for once, for 0.8 s, in all of these minutes.
    assert spent < 30
