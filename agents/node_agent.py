"""The agent's loop: events of the monitor and the end of each minute, in one thread, on one clock.

It waits in one place (``clock.get``), for its collectors' deadline and for the disk; never for the network.
"""

import logging
import queue
import threading
from typing import Final

from agents.clock import Clock
from agents.collectors.collector import Contribution, Request, merged
from agents.collectors.pool import CollectorPool
from agents.collectors.self_usage import SelfUsage
from agents.disk.lane import Dropped
from agents.disk.minutes import Begun, Minutes
from agents.disk.state_file import StateFile
from agents.minute.aggregate import batch_of
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from agents.minute.recovery import close_unfinished
from agents.monitor.process import MonitorEvent, MonitorLine, MonitorOverlongLine
from agents.monitor.supervisor import Supervisor
from agents.price import PriceKeeper
from agents.sinks.delivery import Delivery
from agents.status.status import Parts, StatusFile, describe
from agents.watchdog import Heart
from fleet.metrics import PERIOD_SECONDS

logger = logging.getLogger(__name__)
_LONGEST_WAIT: Final = 60.0
# A wait that took this much longer than it was asked to was no wait: the clock was set, or the machine slept.
_LEAP: Final = 30.0


class NodeAgent:
    """Ties the parts together; each is handed in, so that a test can hold any of them."""

    def __init__(  # noqa: PLR0913 - every part of the agent, named where it is put together
        self,
        *,
        pipeline: Pipeline,
        supervisor: Supervisor,
        delivery: Delivery,
        collectors: CollectorPool,
        state_file: StateFile,
        status_file: StatusFile,
        minutes: Minutes,
        prices: PriceKeeper,
    ) -> None:
        self._pipeline = pipeline
        self._supervisor = supervisor
        self._delivery = delivery
        self._collectors = collectors
        self._state_file = state_file
        self._status_file = status_file
        self._heart = Heart()
        self._minutes = minutes
        self._prices = prices
        self._usage = SelfUsage()
        self._begun = Begun(0, 0)
        self._state: str | None = None
        self._has_report = False
        self._leap = 0.0

    def run(self, clock: Clock, events: "queue.Queue[MonitorEvent]", stop: threading.Event) -> None:
        """Work until ``stop`` is set, then publish the minute so far."""
        self._take_up(clock.now())
        self._heart.ready()
        while not stop.is_set():
            self._heart.beat()
            event = self._next(clock, events)
            now = clock.now()
            # The minute of a report is that in which its line arrived, so a minute ends before the event is taken.
            if now >= self._begun.minute + PERIOD_SECONDS:
                self._close(self._begun.minute + PERIOD_SECONDS, now)
                self._begin(now)
            elif now < self._begun.minute - PERIOD_SECONDS:
                # The clock was set back: waiting for the old minute's end could take hours of silence.
                logger.warning("the clock went back by more than a minute; the minute ends here")
                self._supervisor.clock_moved(now - self._begun.minute)
                self._close(self._begun.minute, now)
                self._begin(now)
            if self._leap:
                self._note_leap()
            if event is None:
                self._supervisor.act(now)
            else:
                self._take(event, now)
        self._heart.stopping()
        self._close(clock.now(), clock.now())
        self._delivery.stop()
        if not self._delivery.is_in_memory:
            self._minutes.end()
        self._status_file.remove()

    def _take_up(self, now: float) -> None:
        """Go on where the agent before this one was killed."""
        unfinished, is_current = self._minutes.unfinished(_floor(now))
        if unfinished is None:
            self._begin(now)
            return
        logger.info("%d reports of a minute that was not finished are taken up", len(unfinished.readings))
        if unfinished.torn:
            self._delivery.count(Dropped.TORN)
        if is_current:
            for reading in unfinished.readings:
                self._pipeline.restore(reading)
            self._begun = self._minutes.resume(unfinished)
            return
        entry = close_unfinished(self._pipeline, unfinished)
        self._delivery.keep(batch_of(entry))
        self._pipeline.published()
        self._state_file.save(self._pipeline.known)
        self._begin(now)

    def _next(self, clock: Clock, events: "queue.Queue[MonitorEvent]") -> MonitorEvent | None:
        before = clock.now()
        deadline = min(self._begun.minute + PERIOD_SECONDS, self._supervisor.deadline())
        wait = min(max(0.0, deadline - before), _LONGEST_WAIT)
        try:
            return clock.get(events, wait)
        except queue.Empty:
            leap = clock.now() - before - wait
            self._leap = leap if leap > _LEAP else 0.0
            return None

    def _note_leap(self) -> None:
        # The monitor has not been silent for that long: nobody has lived through it.
        logger.warning("the clock went forward by %.0f s", self._leap)
        self._supervisor.clock_moved(self._leap)
        self._pipeline.clock_went_forward(self._leap)
        self._leap = 0.0

    def _take(self, event: MonitorEvent, now: float) -> None:
        self._supervisor.heard(event, now)
        if isinstance(event, MonitorOverlongLine):
            self._pipeline.unreadable(f"{event.size} bytes in one line")
            self._supervisor.heard_unreadable()
        if not isinstance(event, MonitorLine):
            return
        reading = self._pipeline.line(event.data, now)
        if reading is None:
            self._supervisor.heard_unreadable()
            return
        self._minutes.append(reading)
        if not self._has_report:
            logger.info("first readable report of %s", self._pipeline.name)
        self._has_report = True
        self._supervisor.works(now, reading.report.hardware)

    def _begin(self, now: float) -> None:
        self._begun = self._minutes.begin(_floor(now), self._pipeline.jobs, self._pipeline.evidence)

    def _close(self, end: float, now: float) -> None:
        own = self._own_figures()
        collected = self._collectors.collect(Request(now, self._pipeline.pids))
        everything = merged([collected, self._delivery.contribution(now), self._of_monitor()])
        around = Surroundings(everything, self._supervisor.problem)
        self._pipeline.price(self._prices.current(now))
        entry = self._pipeline.close(self._begun.minute, end, self._begun.seq, around, own)
        if entry.verdict.state.value != self._state:
            self._state = entry.verdict.state.value
            logger.info("%s: %s", self._state, entry.verdict.reason)
        self._delivery.deliver(batch_of(entry))
        self._pipeline.published()
        # After the batch: an agent that is killed in between decides the same minute again, from the same memory.
        self._state_file.save(self._pipeline.known)
        self._heart.say(f"{entry.verdict.state.value}: {entry.verdict.reason}")
        parts = Parts(self._supervisor.health(), self._collectors.health(), self._delivery.health())
        self._status_file.write(describe(entry, parts, now))

    def _of_monitor(self) -> Contribution:
        monitor = {"status": self._supervisor.status.value, "starts": self._supervisor.starts}
        return Contribution(event={"monitor": monitor})

    def _own_figures(self) -> SelfFigures:
        cpu, rss = self._usage.read()
        waiting, dropped, retries = self._delivery.figures()
        return SelfFigures(spool_bytes=waiting, dropped=dropped, retries=retries, cpu_percent=cpu, rss_bytes=rss)


def _floor(now: float) -> int:
    return int(now) // PERIOD_SECONDS * PERIOD_SECONDS
