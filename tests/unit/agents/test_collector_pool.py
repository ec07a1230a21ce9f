"""Collectors are guests: one that hangs or raises takes nothing from the others."""

import threading
import time

from agents.collectors.collector import Contribution, Request
from agents.collectors.pool import CollectorPool
from fleet import metrics


class Steady:
    name = "steady"

    def collect(self, request: Request) -> Contribution:
        return Contribution(event={"seen": request.now})


class Broken:
    name = "broken"

    def collect(self, request: Request) -> Contribution:
        raise OSError(f"no file at {request.now:.0f}")


class Stuck:
    """Its first answer comes when it is let go; after that it has nothing to say."""

    name = "stuck"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self._is_first = True

    def collect(self, request: Request) -> Contribution:
        if not self._is_first:
            return Contribution()
        self._is_first = False
        self.gate.wait()
        return Contribution(metrics={metrics.EFA_RETRANSMITS: request.now, metrics.CORES_TOTAL: 9})


def test_a_hung_collector_delays_the_minute_by_less_than_a_second_and_is_named() -> None:
    pool = CollectorPool([Stuck(), Broken(), Steady()])
    began = time.monotonic()

    seen = pool.collect(Request(1))

    assert time.monotonic() - began < 1
    assert seen.event == {"seen": 1}
    assert seen.metrics == {}
    assert seen.problems == ("stuck: no answer in time", "broken: OSError: no file at 1")


def test_a_late_answer_gives_its_counts_to_the_next_minute_and_not_its_gauges() -> None:
    stuck = Stuck()
    pool = CollectorPool([stuck], deadline=0.05)
    assert pool.collect(Request(1)).problems
    assert pool.collect(Request(2)).problems == ("stuck: no answer in time",)

    stuck.gate.set()
    limit = time.monotonic() + 60
    while not (seen := pool.collect(Request(3))).metrics:
        assert time.monotonic() < limit

    assert seen.metrics == {metrics.EFA_RETRANSMITS: 1}
