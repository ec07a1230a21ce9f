"""From the spool to the sinks: a batch leaves the disk when its sink has confirmed it."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from agents.batch import Batch
from agents.sinks.sink import Sink, SinkError, SinkRejectedError
from agents.spool import Spool, minute_of

logger = logging.getLogger(__name__)
# How many old batches are sent in one minute after an outage: bounds how long the agent's loop waits.
_BATCHES_A_MINUTE: Final = 60
# Seconds for the old batches of one sink: reports that wait meanwhile must still be taken in their own minute.
_TURN: Final = 15.0


class Publisher:
    """One failure of a sink ends its turn for the minute; the other sinks have theirs."""

    def __init__(self, spool: Spool, sinks: Sequence[Sink], clock: Callable[[], float] = lambda: 0.0) -> None:
        self.spool = spool
        self._clock = clock
        self._sinks = tuple(sinks)
        self._retries = 0
        self._dropped = 0

    def publish(self, batch: Batch, now: float) -> None:
        """Spool ``batch``, then send what is waiting, newest first."""
        for sink in self._sinks:
            try:
                self.spool.put(sink.name, batch)
            except OSError:
                logger.exception("the spool took no batch; it is sent without")
                self._confirmed(sink, batch)
        for sink in self._sinks:
            self._drain(sink, now)

    def retries(self) -> int:
        """Calls that were or will be repeated, since the last call."""
        count, self._retries = self._retries, 0
        return count

    def dropped(self) -> int:
        """Batches given up since the last call."""
        count, self._dropped = self._dropped, 0
        return count + self.spool.lost()

    def _drain(self, sink: Sink, now: float) -> None:
        self._expire(sink, now)
        began = self._clock()
        for name in self.spool.newest_first(sink.name)[:_BATCHES_A_MINUTE]:
            batch = self.spool.read(sink.name, name)
            if batch is None:
                continue
            if not self._confirmed(sink, batch):
                return
            self.spool.remove(sink.name, name)
            if self._clock() - began >= _TURN:
                return

    def _expire(self, sink: Sink, now: float) -> None:
        for name in reversed(self.spool.newest_first(sink.name)):
            if now - minute_of(name) <= sink.longest_age:
                return
            if sink.is_record:
                self.spool.give_up(sink.name, name)
            else:
                self.spool.remove(sink.name, name)

    def _confirmed(self, sink: Sink, batch: Batch) -> bool:
        """Whether the batch need not be kept: it was taken, or will never be."""
        try:
            self._retries += sink.send(batch)
        except SinkError as error:
            self._retries += 1
            logger.warning("%s: batch %d waits: %s", sink.name, batch.seq, error)
            return False
        except SinkRejectedError:
            self._dropped += 1
            logger.exception("%s refused batch %d", sink.name, batch.seq)
        except Exception:
            # A sink is a guest in the agent's loop: whatever happens to it, the node is still measured.
            self._retries += 1
            logger.exception("%s failed on batch %d", sink.name, batch.seq)
            return False
        return True
