"""The agent's loop: events of the monitor and the end of each minute, in one thread, on one clock."""

import logging
import queue
import threading
from typing import Final

from agents.aggregate import metric_data
from agents.batch import Batch, SelfFigures
from agents.clock import Clock
from agents.collectors.collector import Request
from agents.collectors.pool import CollectorPool
from agents.collectors.self_usage import SelfUsage
from agents.log_event import log_event
from agents.monitor.events import MonitorEvent, MonitorLine
from agents.monitor.supervisor import Supervisor
from agents.pipeline import Pipeline, Surroundings
from agents.sinks.publisher import Publisher
from agents.state_file import StateFile
from fleet.metrics import PERIOD_SECONDS

logger = logging.getLogger(__name__)
_LONGEST_WAIT: Final = 60.0


class NodeAgent:
    """Ties the parts together; each is handed in, so that a test can hold any of them."""

    def __init__(
        self,
        pipeline: Pipeline,
        supervisor: Supervisor,
        publisher: Publisher,
        collectors: CollectorPool,
        state_file: StateFile,
    ) -> None:
        self._pipeline = pipeline
        self._supervisor = supervisor
        self._publisher = publisher
        self._collectors = collectors
        self._state_file = state_file
        self._usage = SelfUsage()
        self._minute = 0
        self._state: str | None = None
        self._has_report = False

    def run(self, clock: Clock, events: "queue.Queue[MonitorEvent]", stop: threading.Event) -> None:
        """Work until ``stop`` is set, then publish the minute so far."""
        self._minute = _floor(clock.now())
        while not stop.is_set():
            event = self._next(clock, events)
            now = clock.now()
            # The minute of a report is that in which its line arrived, so a minute ends before the event is taken.
            if now >= self._minute + PERIOD_SECONDS:
                self._close(self._minute + PERIOD_SECONDS, now)
                self._minute = _floor(now)
            elif now < self._minute - PERIOD_SECONDS:
                # The clock was set back: waiting for the old minute's end could take hours of silence.
                logger.warning("the clock went back by more than a minute; the minute ends here")
                self._supervisor.clock_set_back(self._minute - now)
                self._close(self._minute, now)
                self._minute = _floor(now)
            if event is None:
                self._supervisor.act(now)
            else:
                self._take(event, now)
        self._close(clock.now(), clock.now())

    def _next(self, clock: Clock, events: "queue.Queue[MonitorEvent]") -> MonitorEvent | None:
        deadline = min(self._minute + PERIOD_SECONDS, self._supervisor.deadline())
        wait = min(max(0.0, deadline - clock.now()), _LONGEST_WAIT)
        try:
            return clock.get(events, wait)
        except queue.Empty:
            return None

    def _take(self, event: MonitorEvent, now: float) -> None:
        self._supervisor.heard(event, now)
        if isinstance(event, MonitorLine) and self._pipeline.line(event.data, now):
            if not self._has_report:
                logger.info("first readable report of %s", self._pipeline.name)
            self._has_report = True
            self._supervisor.works(now)

    def _close(self, end: float, now: float) -> None:
        entry = self._pipeline.close(
            self._minute, end, self._publisher.spool.next_sequence(), self._surroundings(now), self._own_figures()
        )
        self._state_file.save(entry.verdict.memory)
        if entry.verdict.state.value != self._state:
            self._state = entry.verdict.state.value
            logger.info("%s: %s", self._state, entry.verdict.reason)
        stream = f"{entry.node.config.fleet}/{entry.node.name}"
        batch = Batch(self._minute, entry.seq, stream, metric_data(entry), log_event(entry))
        self._publisher.publish(batch, now)
        self._pipeline.published()

    def _surroundings(self, now: float) -> Surroundings:
        collected = self._collectors.collect(Request(now, self._pipeline.pids))
        return Surroundings(collected, self._supervisor.problem)

    def _own_figures(self) -> SelfFigures:
        cpu, rss = self._usage.read()
        return SelfFigures(
            spool_bytes=self._publisher.spool.size,
            dropped=self._publisher.dropped(),
            retries=self._publisher.retries(),
            cpu_percent=cpu,
            rss_bytes=rss,
        )


def _floor(now: float) -> int:
    return int(now) // PERIOD_SECONDS * PERIOD_SECONDS
