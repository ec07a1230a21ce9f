"""What becomes of a finished minute: a place in every lane of the spool, a look for the exporters, and its sending.

The loop waits for the disk here, and never for the network: on a node ``BackgroundDelivery`` sends from a thread of its
own. ``Delivery`` itself sends while the loop waits: for standard output and for virtual time, which must not run ahead
of a batch.
"""

import logging
import threading
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from agents.collectors.collector import Contribution
from agents.disk.lane import Dropped
from agents.minute.batch import Batch
from agents.sinks.sink import Exporter
from agents.sinks.spooled_sinks import SpooledSinks
from agents.status.health import SinkHealth

logger = logging.getLogger(__name__)
# Seconds over which a fleet spreads its sending, each node at its own moment of the minute.
SPREAD: Final = 20.0
# Attempts after a failed one, before the next minute brings a new batch and a new turn anyway.
RETRIES: Final = 2
_FIRST_BACKOFF: Final = 5.0
# Seconds for the last turn of an agent that is told to stop: with the monitor's grace well below systemd's patience.
LAST_TURN: Final = 20.0


class Delivery:
    """Hands batches on, and says what it could not deliver. ``now`` is unix seconds."""

    def __init__(self, sinks: SpooledSinks, now: Callable[[], float], exporters: Sequence[Exporter] = ()) -> None:
        self._sinks = sinks
        self._now = now
        self._exporters = tuple(exporters)
        self._failures: dict[str, str] = {}
        self._dropped: dict[Dropped, int] = {}

    def keep(self, batch: Batch) -> None:
        """Spool ``batch`` and have it sent: a minute that is no longer the last is not shown to anybody."""
        self._sinks.keep(batch)
        self.wake()

    def deliver(self, batch: Batch) -> None:
        """Spool the fresh ``batch``, show it, and have it sent."""
        self._sinks.keep(batch)
        for exporter in self._exporters:
            try:
                exporter.show(batch)
            except Exception as error:
                # An exporter is a guest in the agent's loop.
                logger.exception("%s could not show batch %d", exporter.name, batch.seq)
                self._failures[exporter.name] = f"{type(error).__name__}: {error}"
        self.wake()

    def wake(self) -> None:
        """Send what waits."""
        self._sinks.drain(self._now())

    def stop(self) -> None:
        """The agent ends. Nothing is left to do here: the last batch went when it came."""

    def count(self, reason: Dropped) -> None:
        """Count something that was lost before it became a batch."""
        self._sinks.spool.count(reason)

    @property
    def is_in_memory(self) -> bool:
        """Whether something waits that would not survive the agent."""
        return self._sinks.spool.waiting().in_memory > 0

    def health(self) -> tuple[SinkHealth, ...]:
        """For ``fleet-agent status``."""
        return self._sinks.health()

    def figures(self) -> tuple[int, int, int]:
        """Bytes that wait; what was dropped and which calls were repeated since the last time."""
        self._dropped = self._sinks.spool.dropped()
        return self._sinks.spool.size, sum(self._dropped.values()), self._sinks.retries()

    def contribution(self, now: float) -> Contribution:
        """The log event's ``spool``, and what went wrong with exporters. ``dropped`` is as ``figures`` last said."""
        waiting = self._sinks.spool.waiting()
        spool: dict[str, Any] = {"bytes": waiting.bytes, "batches": waiting.batches}
        if waiting.oldest is not None:
            spool["oldest_age_seconds"] = max(0, int(now - waiting.oldest))
        if waiting.in_memory:
            spool["in_memory"] = waiting.in_memory
        if self._dropped:
            spool["dropped"] = {reason.value: count for reason, count in sorted(self._dropped.items())}
        failures, self._failures = self._failures, {}
        problems = tuple(f"{name} could not show the last minute: {why}" for name, why in failures.items())
        return Contribution(event={"spool": spool}, problems=problems)


class BackgroundDelivery(Delivery):
    """Sends from a daemon thread: a call that hangs delays neither the loop nor the end by more than ``LAST_TURN``."""

    def __init__(
        self,
        sinks: SpooledSinks,
        now: Callable[[], float],
        exporters: Sequence[Exporter] = (),
        *,
        node: str,
        pause: Callable[[float], bool] | None = None,
    ) -> None:
        """``pause`` waits that many seconds and says whether the thread is to end; tests have a faster one."""
        super().__init__(sinks, now, exporters)
        self._node = node
        self._bell = threading.Event()
        self._ending = threading.Event()
        self._pause = pause or self._ending.wait
        self._thread = threading.Thread(target=self._work, name="sender", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Send soon: after this node's share of the spread."""
        self._bell.set()

    def stop(self, limit: float = LAST_TURN) -> None:
        """Send once more what waits, for no longer than ``limit`` seconds; the rest is on disk for the next agent."""
        self._ending.set()
        self._bell.set()
        self._thread.join(timeout=limit)
        if self._thread.is_alive():
            logger.warning("the last turn was not over after %.0f s; what waits is on disk", limit)

    def _work(self) -> None:
        while not self._ending.is_set():
            self._bell.wait()
            self._bell.clear()
            if self._ending.is_set() or self._pause(share(self._node, "spread") * SPREAD):
                break
            self._send()
        self._drain()

    def _send(self) -> None:
        for attempt in range(RETRIES + 1):
            if self._drain() or attempt == RETRIES:
                return
            if self._pause(backoff(self._node, attempt)) or self._bell.is_set():
                # A new batch is there: its turn begins with its own place in the minute.
                return

    def _drain(self) -> bool:
        try:
            return self._sinks.drain(self._now())
        except Exception:
            # Nothing may end this thread: without it the node goes silent while it seems to work.
            logger.exception("the spool could not be sent")
            return False


def backoff(node: str, attempt: int) -> float:
    """Seconds before the next attempt: between half of the doubling interval and all of it, by the node's name."""
    return _FIRST_BACKOFF * 2.0**attempt * (0.5 + share(node, f"attempt {attempt}") / 2)


def share(node: str, of: str) -> float:
    """A number from 0 to 1 that belongs to this node, so that a fleet does not act in the same second."""
    return zlib.crc32(f"{node}:{of}".encode()) / 0xFFFFFFFF
