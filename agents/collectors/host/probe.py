"""Asks file systems on the network whether they are still there, without waiting for the answer.

A call into a hard-mounted NFS whose server is gone never returns, and the thread that made it cannot be ended. So each
mount has one thread at most, and one that hangs is not asked again before it has answered.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

# Seconds that the end of a minute waits for all answers together; far below the collectors' deadline.
PATIENCE: Final = 0.2
_MOST_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """The ``seconds`` that an answer took, or the ``error`` that it was, or for how long there has been none."""

    seconds: float | None = None
    error: str | None = None
    silent_seconds: float | None = None


@dataclass(slots=True)
class _Question:
    asked: float
    answers: "queue.Queue[Answer]" = field(default_factory=lambda: queue.Queue(1))


class MountProbes:
    """``statvfs`` on each mount, in a thread each. What is asked, and with which clock, can be replaced."""

    def __init__(
        self,
        ask: Callable[[str], Any] = os.statvfs,
        patience: float = PATIENCE,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask, self._patience, self._elapsed = ask, patience, elapsed
        self._open: dict[str, _Question] = {}

    def look(self, points: Iterable[str], now: float) -> dict[str, Answer]:
        """What is known of each mount point at unix second ``now``; a question of this minute may still be open."""
        wanted = tuple(points)
        found: dict[str, Answer] = {}
        for point, question in list(self._open.items()):
            if not question.answers.empty():
                # It took a minute or more: asked again now, it says how it is doing.
                del self._open[point]
            elif point in wanted:
                found[point] = Answer(silent_seconds=max(0.0, now - question.asked))
        fresh = [point for point in wanted if point not in self._open][: _MOST_THREADS - len(self._open)]
        for point in fresh:
            self._open[point] = self._question(point, now)
        ends = self._elapsed() + self._patience
        for point in fresh:
            try:
                found[point] = self._open[point].answers.get(timeout=max(0.0, ends - self._elapsed()))
                del self._open[point]
            except queue.Empty:
                continue
        return found

    def _question(self, point: str, now: float) -> _Question:
        question = _Question(now)
        arguments = (point, question.answers)
        threading.Thread(target=self._work, args=arguments, name="mount probe", daemon=True).start()
        return question

    def _work(self, point: str, answers: "queue.Queue[Answer]") -> None:
        began = self._elapsed()
        try:
            self._ask(point)
        except OSError as error:
            answers.put(Answer(error=error.strerror or str(error)))
        else:
            answers.put(Answer(seconds=self._elapsed() - began))
