"""Keeps requests with their answers, and puts them into S3 once a minute, in a thread of its own.

Whoever answers gives an exchange away and goes on: what does not fit into the queue, and what S3 does not take, is
dropped and counted. Samples are a help for a rollout, and worth no answer.
"""

import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fleet.shadow import places, requests
from fleet.shadow import sample as samples
from fleet.shadow.sample import Batch, Left, Sample
from workload.errors import ServingError
from workload.serving.shadow.tap import Exchange
from workload.serving.shadow.task import Task

if TYPE_CHECKING:
    from workload.serving.shadow.adapters import S3Bucket

logger = logging.getLogger(__name__)
EVERY_SECONDS: Final = 60.0
# At the most as large as an exchange may be: 32 MB.
_WAITING: Final = 64
# A batch is written once a minute, so this is what a minute holds.
_MOST_SAMPLES: Final = 240
_MOST_BYTES: Final = 4 * 1024 * 1024
_LOOK: Final = 0.5


class Recorder:
    """``task`` is this one, of ``fleet``. ``now`` is seconds since 1970."""

    def __init__(
        self,
        objects: "S3Bucket",
        fleet: str,
        task: Task,
        *,
        every: float = EVERY_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._objects, self._fleet, self._task = objects, fleet, task
        self._every, self._now = every, now
        self._queue: queue.Queue[Exchange] = queue.Queue(_WAITING)
        self._did_not_fit = 0
        self._samples: list[Sample] = []
        self._bytes = 0
        self._left = Left()
        self._began = now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="shadow recorder", daemon=True)

    def offer(self, exchange: Exchange) -> None:
        """Take it if there is room; never waits. From one thread only."""
        try:
            self._queue.put_nowait(exchange)
        except queue.Full:
            self._did_not_fit += 1

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self, patience: float = 5.0) -> None:
        """Write what is there, within ``patience`` seconds."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(patience)

    def step(self, wait: float = 0.0) -> None:
        """Take what waits, and write when it is time."""
        self._take(wait)
        if self._now() - self._began >= self._every:
            self.flush()

    def flush(self) -> None:
        """Write what was kept; what S3 does not take is gone, and counted in the next batch."""
        now, left = self._now(), self._all_left()
        kept, self._samples, self._bytes, self._left = tuple(self._samples), [], 0, Left()
        self._began = now
        if not kept and left == Left():
            return
        batch = Batch(self._task.version, self._task.task_id, kept, left)
        try:
            key = places.sample(self._fleet, now, self._task.version, self._task.task_id)
            self._objects.put(key, samples.encode(batch))
        except ServingError as error:
            logger.warning("%d recorded requests are lost: %s", len(kept), error)
            self._left = left.plus(Left(dropped=len(kept)))

    def _all_left(self) -> Left:
        taken, self._did_not_fit = self._did_not_fit, 0
        return self._left.plus(Left(dropped=taken))

    def _take(self, wait: float) -> None:
        try:
            exchange = self._queue.get(timeout=wait) if wait else self._queue.get_nowait()
            while True:
                self._keep_guarded(exchange)
                exchange = self._queue.get_nowait()
        except queue.Empty:
            return

    def _keep_guarded(self, exchange: Exchange) -> None:
        try:
            self._keep(exchange)
        except Exception:
            # What clients send decides what is seen here; the next request is another one.
            logger.exception("a recorded request could not be kept")
            self._left = self._left.plus(Left(failed=1))

    def _keep(self, exchange: Exchange) -> None:
        size = len(exchange.body) + len(exchange.answer)
        is_full = len(self._samples) >= _MOST_SAMPLES or self._bytes + size > _MOST_BYTES
        if not exchange.is_whole or is_full:
            self._left = self._left.plus(Left(dropped=1))
            return
        found = _sample(exchange)
        if isinstance(found, Left):
            self._left = self._left.plus(found)
        else:
            self._samples.append(found)
            self._bytes += size

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                self.step(_LOOK)
            except Exception:
                # The next minute is another one.
                logger.exception("recorded requests could not be written")
        self._take(0.0)
        self.flush()


def _sample(exchange: Exchange) -> Sample | Left:
    """What is kept of it, or what it is counted as."""
    if exchange.status != 200:
        return Left(failed=1)
    asked = _json(exchange.body)
    if not isinstance(asked, dict):
        return Left(failed=1)
    # Before the answer is read: that of a stream is no JSON.
    if requests.reason_against(exchange.path, asked):
        return Left(chance=1)
    answer = requests.answer_in(exchange.path, _json(exchange.answer))
    if answer is None:
        return Left(failed=1)
    body = exchange.body.decode("utf-8", "replace")
    return Sample(exchange.request_id, exchange.at, exchange.path, body, answer, exchange.seconds)


def _json(content: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(content)
    except ValueError:
        return None
