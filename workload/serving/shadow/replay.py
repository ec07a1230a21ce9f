"""The candidate answers recorded requests, before anybody asks it something, and reports how its answers compare.

It begins when the task is ready, and ends at the first request of a client: a task of a later share, which has clients
at once, is not loaded with more than those.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from fleet.shadow import comparison as comparisons
from fleet.shadow import places
from fleet.shadow import sample as samples
from fleet.shadow.comparison import Comparison, Replayed
from fleet.shadow.requests import answer_in
from fleet.shadow.sample import Batch, Left, Sample, SampleError, newest, offsets
from workload.errors import ServingError
from workload.serving.shadow.tap import Exchange, Tap
from workload.serving.shadow.task import Task

if TYPE_CHECKING:
    from workload.serving.shadow.adapters import S3Bucket

logger = logging.getLogger(__name__)
# Most endpoints have enough of the last hour; names of a whole day are many. What is older says less about today.
_LOOKED_BACK_SECONDS: Final = (3600.0, 24 * 3600.0)
# Of a quiet endpoint, one sample a minute: more would take longer to fetch than to ask.
_MOST_OBJECTS: Final = 240
AGAIN_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.5
# As a load balancer would close the connection of whoever waits longer.
_PATIENCE: Final = 300.0


class Replay:
    """``task`` is this one, of ``fleet``; ``min_requests`` are enough, and twice as many are asked."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the third, each a fact of its own
        self,
        tap: Tap,
        objects: "S3Bucket",
        task: Task,
        *,
        fleet: str,
        min_requests: int,
        cosine: float,
        again: float = AGAIN_SECONDS,
    ) -> None:
        self._tap, self._objects, self._task = tap, objects, task
        self._fleet, self._min_requests, self._cosine, self._again = fleet, min_requests, cosine, again

    async def run(self, is_ready: Callable[[], bool]) -> None:
        """Compare until there is enough to compare, or a client asks something."""
        while not is_ready():
            await asyncio.sleep(_LOOK_SECONDS)
        while not self._tap.asked:
            try:
                report = await self._compare()
            except ServingError as error:
                logger.warning("recorded requests cannot be compared: %s", error)
            else:
                if report is None or report.compared >= self._min_requests:
                    return
                logger.info("%d of %d recorded requests were compared", report.compared, self._min_requests)
            await self._wait()

    async def _wait(self) -> None:
        until = time.monotonic() + self._again
        while time.monotonic() < until and not self._tap.asked:
            await asyncio.sleep(min(_LOOK_SECONDS, self._again))

    async def _compare(self) -> Comparison | None:
        """The report that was written; None where a client came in between."""
        batches = await asyncio.to_thread(newest_batches, self._objects, self._fleet, 2 * self._min_requests)
        chosen = newest([each for batch in batches for each in batch.samples], 2 * self._min_requests)
        replayed = await self._ask_all(chosen)
        if replayed is None:
            return None
        left = Left()
        for batch in batches:
            left = left.plus(batch.left)
        recorded = batches[0].version if batches else ""
        of = Comparison(self._task.version, self._task.task_id, recorded, left=left)
        report = comparisons.compare(of, replayed, self._cosine)
        key = places.report(self._fleet, self._task.version, self._task.task_id)
        await asyncio.to_thread(self._objects.put, key, comparisons.encode(report))
        return report

    async def _ask_all(self, chosen: Sequence[Sample]) -> list[Replayed] | None:
        began, asking = time.monotonic(), list[asyncio.Task[Replayed]]()
        try:
            for sample, offset in zip(chosen, offsets(chosen), strict=True):
                while (early := began + offset - time.monotonic()) > 0 and not self._tap.asked:
                    await asyncio.sleep(min(early, _LOOK_SECONDS))
                if self._tap.asked:
                    return None
                asking.append(asyncio.create_task(self._ask(sample)))
            while any(not task.done() for task in asking):
                if self._tap.asked:
                    return None
                await asyncio.wait(asking, timeout=_LOOK_SECONDS)
            return None if self._tap.asked else [task.result() for task in asking]
        finally:
            for task in asking:
                task.cancel()

    async def _ask(self, sample: Sample) -> Replayed:
        try:
            answer = await asyncio.wait_for(self._tap.ask(sample.path, sample.body.encode()), _PATIENCE)
            return _replayed(sample, answer)
        except Exception as error:
            # Whatever the application raises is no answer. Its words may hold the prompt.
            logger.warning("recorded request %s failed: %s", sample.request_id, type(error).__name__)
            return Replayed(sample, None, 0.0)


def newest_batches(objects: "S3Bucket", fleet: str, most: int) -> list[Batch]:
    """The last batches of the version that recorded last, newest first, until they have ``most`` samples.

    Raises:
        ServingError: S3 fails.
    """
    found = list[Batch]()
    for seconds in _LOOKED_BACK_SECONDS:
        found = _batches_since(objects, fleet, time.time() - seconds, most)
        if sum(len(batch.samples) for batch in found) >= most:
            break
    return found


def _batches_since(objects: "S3Bucket", fleet: str, since: float, most: int) -> list[Batch]:
    found, count = list[Batch](), 0
    keys = objects.keys(places.samples(fleet), places.samples_before(fleet, since))
    for key in reversed(keys[-_MOST_OBJECTS:]):
        try:
            batch = samples.decode(objects.get(key))
        except SampleError as error:
            logger.warning("%s: %s", key, error)
            continue
        if found and batch.version != found[0].version:
            break
        found.append(batch)
        count += len(batch.samples)
        if count >= most:
            break
    return found


def _replayed(sample: Sample, exchange: Exchange) -> Replayed:
    if exchange.status != 200 or not exchange.is_whole:
        return Replayed(sample, None, exchange.seconds)
    try:
        return Replayed(sample, answer_in(sample.path, json.loads(exchange.answer)), exchange.seconds)
    except ValueError:
        return Replayed(sample, None, exchange.seconds)
