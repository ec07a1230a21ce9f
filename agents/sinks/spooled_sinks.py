"""The sinks behind the spool: a batch leaves the disk when its sink has confirmed it.

``keep`` belongs to the agent's loop and touches the disk only; ``drain`` to whoever sends (``delivery``).
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from agents.disk.lane import Dropped
from agents.disk.spool import Spool, minute_of
from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks.sink import Sink
from agents.status.health import SinkHealth

logger = logging.getLogger(__name__)
# How many batches of one sink are sent in one turn after an outage. With a turn a minute, 3 hours of metrics take 3
# minutes and 72 hours of log events 72: a fleet that comes back together must not use up the account's call rate.
_BATCHES_A_TURN: Final = 60
# Seconds for one sink's turn: the other sink and the fresh minute must not wait for old batches on a slow line.
_TURN: Final = 15.0
# Failures after which the turn of a sink that takes batches otherwise ends.
_FAILURES_A_TURN: Final = 3
# Failed attempts after which a batch lets the others go first: the service may have something against this one only.
_STRIKES: Final = 3


class SpooledSinks:
    """One failure of a sink ends its turn; the other sinks have theirs."""

    def __init__(self, spool: Spool, sinks: Sequence[Sink], clock: Callable[[], float] = lambda: 0.0) -> None:
        self.spool = spool
        self._clock = clock
        self._sinks = tuple(sinks)
        self._retries = 0
        self._strikes: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._confirmed_at: dict[str, float] = {}
        self._last_problem: dict[str, str] = {}

    def keep(self, batch: Batch) -> None:
        """Spool ``batch`` for every sink."""
        for sink in self._sinks:
            self.spool.put(sink.name, sink.part(batch))

    def drain(self, now: float) -> bool:
        """Send what is waiting, newest first; False when a sink failed and is worth another attempt."""
        outcomes = [self._turn(sink, now) for sink in self._sinks]
        return all(outcomes)

    def retries(self) -> int:
        """Calls that were or will be repeated, since the last call."""
        with self._lock:
            count, self._retries = self._retries, 0
            return count

    def health(self) -> tuple[SinkHealth, ...]:
        """For ``fleet-agent status``."""
        return tuple(self._health(sink.name) for sink in self._sinks)

    def _turn(self, sink: Sink, now: float) -> bool:
        self._expire(sink, now)
        began, taken, failed = self._clock(), 0, 0
        for name in self._order(sink)[:_BATCHES_A_TURN]:
            batch = self.spool.read(sink.name, name)
            if batch is None:
                continue
            if self._sent(sink, name, batch):
                taken += 1
            else:
                failed += 1
                self._strikes[sink.name, name] = self._strikes.get((sink.name, name), 0) + 1
            # A service that has taken nothing is away; one that throttles now and then is asked on.
            if failed and (not taken or failed == _FAILURES_A_TURN):
                break
            if abs(self._clock() - began) >= _TURN:
                break
        return not failed

    def _order(self, sink: Sink) -> list[str]:
        names = self.spool.newest_first(sink.name)
        waiting = frozenset(names)
        self._strikes = {key: count for key, count in self._strikes.items() if key[0] != sink.name or key[1] in waiting}
        return sorted(names, key=lambda name: self._strikes.get((sink.name, name), 0) >= _STRIKES)

    def _expire(self, sink: Sink, now: float) -> None:
        for name in reversed(self.spool.newest_first(sink.name)):
            if now - minute_of(name) <= sink.longest_age:
                return
            if sink.is_record:
                self.spool.give_up(sink.name, name, Dropped.TOO_OLD)
            else:
                self.spool.remove(sink.name, name)

    def _sent(self, sink: Sink, name: str, batch: Batch) -> bool:
        """Whether the batch is done with: it was taken, or will never be."""
        try:
            self._repeated(sink.send(batch))
        except SinkError as error:
            self._repeated(1)
            logger.warning("%s: batch %d waits: %s", sink.name, batch.seq, error)
            self._last_problem[sink.name] = str(error)
            return False
        except SinkRejectedError as error:
            logger.exception("%s refused batch %d", sink.name, batch.seq)
            self._last_problem[sink.name] = f"refused: {error}"
            self.spool.give_up(sink.name, name, Dropped.REFUSED)
            return True
        except Exception as error:
            # A sink is a guest: whatever happens to it, the other sinks have their turn.
            self._repeated(1)
            self._last_problem[sink.name] = f"{type(error).__name__}: {error}"
            logger.exception("%s failed on batch %d", sink.name, batch.seq)
            return False
        self._confirmed_at[sink.name] = self._clock()
        self.spool.remove(sink.name, name)
        return True

    def _health(self, name: str) -> SinkHealth:
        waiting = self.spool.newest_first(name)
        return SinkHealth(
            name=name,
            confirmed_at=self._confirmed_at.get(name),
            waiting=len(waiting),
            oldest_minute=minute_of(waiting[-1]) if waiting else None,
            last_problem=self._last_problem.get(name),
        )

    def _repeated(self, calls: int) -> None:
        with self._lock:
            self._retries += calls
