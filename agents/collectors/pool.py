"""Asks every collector at the end of a minute, all at once, and waits for none longer than the deadline.

Each collector has one thread, so a hung one (a dead NFS mount, a driver that does not answer) holds up nobody and
is not asked again before it has answered. What it then brings is late: counts and errors are taken with the next
minute, because they would be lost otherwise; gauges are out of date and are not.
"""

import logging
import queue
import threading
import time
from collections.abc import Sequence
from typing import Final

from agents.collectors.collector import Collector, Contribution, Request, merged
from fleet.metrics import Kind

logger = logging.getLogger(__name__)
# Seconds that the end of a minute may wait for its collectors.
DEADLINE: Final = 0.8


class CollectorPool:
    """The collectors and their threads. The deadline is real seconds, also where the agent lives in virtual time."""

    def __init__(self, collectors: Sequence[Collector], deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._workers = [_Worker(collector) for collector in collectors]

    def collect(self, request: Request) -> Contribution:
        """What all of them saw; who raised or did not answer is named among the problems."""
        late = [worker.ask(request) for worker in self._workers]
        ends = time.monotonic() + self._deadline
        answers = [worker.answer(request, ends - time.monotonic()) for worker in self._workers]
        return merged([*answers, *late])


class _Worker:
    """One collector in one thread: a daemon, so that a hung one does not keep the agent from ending."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._requests: queue.Queue[Request] = queue.Queue(1)
        self._answers: queue.Queue[Contribution] = queue.Queue(1)
        self._open: Request | None = None
        threading.Thread(target=self._work, name=f"collector {collector.name}", daemon=True).start()

    def ask(self, request: Request) -> Contribution:
        """Put the question, unless the last one is still open; the late answer to that one, if it has come."""
        late = Contribution()
        if self._open is not None:
            try:
                late = _still_true(self._answers.get_nowait())
            except queue.Empty:
                return late
        self._open = request
        self._requests.put(request)
        return late

    def answer(self, request: Request, timeout: float) -> Contribution:
        """The answer to ``request``, or what is known when ``timeout`` seconds have passed without one."""
        try:
            contribution = self._answers.get(timeout=max(0.0, timeout))
        except queue.Empty:
            logger.warning("%s: no answer in time", self._collector.name)
            return Contribution(problems=(f"{self._collector.name}: no answer in time",))
        is_late, self._open = self._open is not request, None
        return _still_true(contribution) if is_late else contribution

    def _work(self) -> None:
        while True:
            request = self._requests.get()
            try:
                contribution = self._collector.collect(request)
            except Exception as error:
                logger.exception("%s failed", self._collector.name)
                contribution = Contribution(problems=(f"{self._collector.name}: {type(error).__name__}: {error}",))
            self._answers.put(contribution)


def _still_true(late: Contribution) -> Contribution:
    counts = {spec: value for spec, value in late.metrics.items() if spec.kind is Kind.PER_MINUTE}
    return Contribution(metrics=counts, hardware_errors=late.hardware_errors, problems=late.problems)
