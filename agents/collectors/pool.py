"""Asks every collector at the end of a minute, all at once, and waits for none longer than the deadline.

Each collector has one thread, so a hung one (a dead NFS mount, a driver that does not answer) holds up nobody: it is
waited for once, and then neither asked nor waited for before it has answered. What it brings at last is late: counts
and errors are taken with that minute, because they would be lost otherwise, so that they are of all the minutes that
it took; gauges are out of date and are not.

Evidence for the node's state (a compiler, a checkpoint, a drain) is as last seen while its collector fails, for a few
minutes: a machine that is too busy compiling to answer would otherwise count as idle.
"""

import logging
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agents.collectors.collector import Collector, Contribution, Request, merged
from agents.collectors.vetting import bounded, vetted
from agents.status.health import CollectorHealth
from fleet.metrics import PERIOD_SECONDS, Kind, MetricSpec

logger = logging.getLogger(__name__)
# Seconds that the end of a minute may wait for its collectors.
DEADLINE: Final = 0.8
# As long as a silent monitor makes no node blind.
_EVIDENCE_SECONDS: Final = 3.0 * PERIOD_SECONDS
_LONGEST_ERROR: Final = 500


class CollectorPool:
    """The collectors and their threads. The deadline is real seconds, also where the agent lives in virtual time."""

    def __init__(self, collectors: Sequence[Collector], deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._workers = [_Worker(collector) for collector in collectors]

    def collect(self, request: Request) -> Contribution:
        """What all of them saw; who raised or did not answer is named among the problems.

        The event's ``collectors`` say for each how many milliseconds it took and whether all went well.
        """
        late = [worker.ask(request) for worker in self._workers]
        ends = time.monotonic() + self._deadline
        answers = [worker.answer(request, ends - time.monotonic()) for worker in self._workers]
        seen = merged([*late, *(answer.contribution for answer in answers)])
        costs = {worker.name: answer.cost() for worker, answer in zip(self._workers, answers, strict=True)}
        return bounded(merged([seen, Contribution(event={"collectors": costs} if costs else {})]))

    def health(self) -> tuple[CollectorHealth, ...]:
        """For ``fleet-agent status``."""
        return tuple(worker.health() for worker in self._workers)


@dataclass(frozen=True, slots=True)
class _Answer:
    """``seconds`` are None while it has not come."""

    contribution: Contribution
    seconds: float | None
    is_ok: bool

    def cost(self) -> Mapping[str, Any]:
        spent = {} if self.seconds is None else {"ms": round(1000 * self.seconds, 1)}
        return {**spent, "ok": self.is_ok}


class _Worker:
    """One collector in one thread: a daemon, so that a hung one does not keep the agent from ending."""

    def __init__(self, collector: Collector) -> None:
        self.name = collector.name
        self._collector = collector
        self._requests: queue.Queue[Request] = queue.Queue(1)
        self._answers: queue.Queue[_Answer] = queue.Queue(1)
        self._open: Request | None = None
        self._failure: str | None = None
        self._seen, self._seen_at = Contribution(), 0.0
        # The first is written by the thread that asks, the others by the one that answers.
        self._late = 0
        self._raised = 0
        self._answered_at: float | None = None
        threading.Thread(target=self._work, name=f"collector {self.name}", daemon=True).start()

    def ask(self, request: Request) -> Contribution:
        """Put the question, unless the last one is still open; the late answer to that one, if it has come."""
        late = Contribution()
        if self._open is not None:
            try:
                answer = self._answers.get_nowait()
            except queue.Empty:
                return late
            self._note(answer, self._open)
            late = _still_true(answer.contribution)
            logger.warning("%s: answers again, after %s", self.name, _waited(self._open, request))
        self._open = request
        self._requests.put(request)
        return late

    def answer(self, request: Request, timeout: float) -> _Answer:
        """The answer to ``request``, or what is known when ``timeout`` seconds have passed without one."""
        since = self._open or request
        if since is request:
            try:
                answer = self._answers.get(timeout=max(0.0, timeout))
            except queue.Empty:
                logger.warning("%s: no answer in time", self.name)
            else:
                self._open = None
                self._note(answer, request)
                return replace(answer, contribution=self._with_evidence(answer.contribution, request))
        self._late += 1
        said = Contribution(problems=(f"{self.name}: no answer {_waited(since, request)}",))
        return _Answer(self._with_evidence(said, request), None, is_ok=False)

    def _note(self, answer: _Answer, request: Request) -> None:
        if answer.is_ok:
            self._seen, self._seen_at = answer.contribution, request.now

    def _with_evidence(self, said: Contribution, request: Request) -> Contribution:
        if not 0 <= request.now - self._seen_at <= _EVIDENCE_SECONDS:
            return said
        seen = self._seen
        return replace(
            said,
            draining=seen.draining,
            compiling=seen.compiling,
            checkpoint=seen.checkpoint,
            waits_for_lock=seen.waits_for_lock,
            phases=seen.phases,
        )

    def health(self) -> CollectorHealth:
        """Being late twice with one answer is two failures: two minutes went without."""
        return CollectorHealth(self.name, self._answered_at, self._late + self._raised)

    def _work(self) -> None:
        while True:
            request = self._requests.get()
            began = time.monotonic()
            try:
                contribution, is_ok = vetted(self.name, self._collector.collect(request)), True
                self._answered_at = request.now
            except BaseException as error:
                # Whatever it is, it must not end the thread: the collector could never be asked again.
                self._raised += 1
                text = f"{self.name}: {type(error).__name__}: {error}"[:_LONGEST_ERROR]
                if text != self._failure:
                    logger.exception("%s failed", self.name)
                self._failure = text
                contribution, is_ok = Contribution(problems=(text,)), False
            self._answers.put(_Answer(contribution, time.monotonic() - began, is_ok))


def _waited(since: Request, request: Request) -> str:
    minutes = round((request.now - since.now) / PERIOD_SECONDS)
    return f"for {minutes} min" if minutes > 0 else "in time"


def _still_true(late: Contribution) -> Contribution:
    return Contribution(
        metrics=_counts(late.metrics),
        job_metrics={job_id: _counts(figures) for job_id, figures in late.job_metrics.items()},
        hardware_errors=late.hardware_errors,
        problems=late.problems,
    )


def _counts(figures: Mapping[MetricSpec, float]) -> dict[MetricSpec, float]:
    return {spec: value for spec, value in figures.items() if spec.kind is Kind.PER_MINUTE}
