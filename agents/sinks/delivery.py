"""What becomes of a finished minute: a place in every lane of the spool, a look for the exporters, a bell for the
sender. The loop waits for the disk here, and never for the network.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from agents.collectors.collector import Contribution
from agents.disk.spooled import Dropped
from agents.minute.batch import Batch
from agents.sinks.publisher import Publisher
from agents.sinks.sender import InlineSender, Sender
from agents.sinks.sink import Exporter
from agents.status.health import SinkHealth

logger = logging.getLogger(__name__)


class Delivery:
    """Hands batches on, and says what it could not deliver."""

    def __init__(
        self,
        publisher: Publisher,
        sender: Sender | None = None,
        exporters: Sequence[Exporter] = (),
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Without a ``sender`` batches are sent before ``deliver`` returns."""
        self._publisher = publisher
        self._sender = sender or InlineSender(publisher, now)
        self._exporters = tuple(exporters)
        self._failures: dict[str, str] = {}
        self._dropped: dict[Dropped, int] = {}

    def keep(self, batch: Batch) -> None:
        """Spool ``batch`` and have it sent: a minute that is no longer the last is not shown to anybody."""
        self._publisher.keep(batch)
        self._sender.wake()

    def deliver(self, batch: Batch) -> None:
        """Spool the fresh ``batch``, show it, and have it sent."""
        self._publisher.keep(batch)
        for exporter in self._exporters:
            try:
                exporter.show(batch)
            except Exception as error:
                # An exporter is a guest in the agent's loop.
                logger.exception("%s could not show batch %d", exporter.name, batch.seq)
                self._failures[exporter.name] = f"{type(error).__name__}: {error}"
        self._sender.wake()

    def count(self, reason: Dropped) -> None:
        """Count something that was lost before it became a batch."""
        self._publisher.spool.count(reason)

    def stop(self) -> None:
        """One bounded last turn."""
        self._sender.stop()

    @property
    def is_in_memory(self) -> bool:
        """Whether something waits that would not survive the agent."""
        return self._publisher.spool.waiting().in_memory > 0

    def health(self) -> tuple[SinkHealth, ...]:
        """For ``fleet-agent status``."""
        return self._publisher.health()

    def figures(self) -> tuple[int, int, int]:
        """Bytes that wait; what was dropped and which calls were repeated since the last time."""
        self._dropped = self._publisher.spool.dropped()
        return self._publisher.spool.size, sum(self._dropped.values()), self._publisher.retries()

    def contribution(self, now: float) -> Contribution:
        """The log event's ``spool``, and what went wrong with exporters. ``dropped`` is as ``figures`` last said."""
        waiting = self._publisher.spool.waiting()
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
