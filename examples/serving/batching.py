"""Requests wait, and are executed in batches of one bucket: as many as wait, up to the largest graph there is.

A batch that is not full is filled with empty sequences, because a graph takes full batches only. vLLM does better, with
continuous batching; where it runs the model, requests go to it one by one (``vllm.py``).
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from fleet.serving.buckets import Buckets, Padded, pad

T = TypeVar("T")
# Whoever waits longer has gone: a load balancer closes an idle connection after five minutes here.
LONGEST_QUEUE = 1024


class QueueFullError(Exception):
    """So many wait that another would wait longer than anybody does."""


@dataclass
class _Waiting(Generic[T]):
    padded: Padded
    bucket: int
    work: Callable[[Sequence[Padded]], list[T]]
    kind: object
    since: float
    answer: "asyncio.Future[T]"


@dataclass
class Load:
    """What is reported of the queue: ``in_flight`` now, the rest since it was last taken."""

    in_flight: int = 0
    tokens: int = 0
    queue_seconds: list[float] = field(default_factory=list)

    def take(self) -> tuple[int, list[float]]:
        """Tokens and queue times since the last call."""
        taken = self.tokens, self.queue_seconds
        self.tokens, self.queue_seconds = 0, []
        return taken


class Batcher:
    """Of one event loop. ``ran`` is told each shape that was executed."""

    def __init__(self, buckets: Buckets, ran: Callable[[int, int], None]) -> None:
        self._buckets, self._ran = buckets, ran
        self._waiting: list[_Waiting[Any]] = []
        self._arrived = asyncio.Event()
        # One at a time: the cores are one model's.
        self._thread = ThreadPoolExecutor(1, "model")
        self.load = Load()

    async def ask(self, tokens: Sequence[int], work: Callable[[Sequence[Padded]], list[T]], kind: object) -> T:
        """The answer for one sequence; those of one bucket and ``kind`` share an execution of ``work``.

        Raises:
            TooLongError: no bucket takes it.
            QueueFullError: too many wait.
        """
        bucket = self._buckets.length_for(max(1, len(tokens)))
        if len(self._waiting) >= LONGEST_QUEUE:
            raise QueueFullError(f"{LONGEST_QUEUE} requests wait already")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        one = _Waiting(pad(tokens, bucket), bucket, work, kind, time.monotonic(), answer)
        self._waiting.append(one)
        self._arrived.set()
        self.load.in_flight += 1
        try:
            return await answer
        finally:
            self.load.in_flight -= 1

    async def run(self) -> None:
        """Execute what comes, the oldest first, until it is cancelled."""
        while True:
            await self._arrived.wait()
            batch = self._next()
            if not batch:
                self._arrived.clear()
                continue
            await self._execute(batch)

    async def warm(self, work: Callable[[Sequence[Padded]], object]) -> None:
        """Execute every shape once, with empty sequences. Raises whatever ``work`` does."""
        for length, size in sorted(self._buckets.shapes):
            await self._in_thread(work, [pad([], length)] * size)
            self._ran(length, size)

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next(self) -> list[_Waiting[Any]]:
        # Those whose client has gone are not worth an execution.
        self._waiting = [each for each in self._waiting if not each.answer.done()]
        if not self._waiting:
            return []
        first = self._waiting[0]
        alike = [each for each in self._waiting if (each.bucket, each.kind) == (first.bucket, first.kind)]
        same = alike[: self._buckets.batch_sizes[-1]]
        chosen = {id(each) for each in same}
        self._waiting = [each for each in self._waiting if id(each) not in chosen]
        return same

    async def _execute(self, batch: list[_Waiting[Any]]) -> None:
        now = time.monotonic()
        self.load.queue_seconds += [now - each.since for each in batch]
        length, work = batch[0].bucket, batch[0].work
        size = self._buckets.batch_for(len(batch))
        filled = [each.padded for each in batch] + [pad([], length)] * (size - len(batch))
        try:
            answers = await self._in_thread(work, filled)
        except Exception as error:
            # Whatever the model raises is the answer of everybody in the batch.
            for each in batch:
                if not each.answer.done():
                    each.answer.set_exception(error)
            return
        self._ran(length, size)
        for each, answer in zip(batch, answers, strict=False):
            if not each.answer.done():
                each.answer.set_result(answer)

    async def _in_thread(self, work: Callable[[Sequence[Padded]], T], batch: Sequence[Padded]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, batch)
