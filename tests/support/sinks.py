"""Sinks in memory, and batches for them."""

import os

from agents.minute.batch import Batch
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support.agents import MINUTE


def batch(index: int, padding: int = 0) -> Batch:
    """A small batch, the one of minute ``index``; ``padding`` is how many bytes it takes on the disk besides."""
    # Random text does not compress, so its length is its size.
    filler = os.urandom(padding // 2).hex()
    return Batch(
        MINUTE + 60 * index, index, "pretrain/i-1", ({"MetricName": "AgentHeartbeat"},), {"seq": index, "x": filler}
    )


class RecordingSink:
    """Keeps every batch."""

    name = "memory"
    longest_age = 1e9
    is_record = True

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def part(self, batch: Batch) -> Batch:
        return batch

    def send(self, batch: Batch) -> int:
        self.batches.append(batch)
        return 0

    def states(self) -> list[str]:
        return [batch.log_event["state"] for batch in self.batches]

    def reasons(self) -> list[str]:
        return [batch.log_event["state_reason"] for batch in self.batches]


class MemorySink:
    """Takes batches, or raises what the test tells it to."""

    def __init__(self, name: str = "logs", longest_age: float = 14 * 86400.0, *, is_record: bool = True) -> None:
        self.name = name
        self.longest_age = longest_age
        self.is_record = is_record
        self.error: Exception | None = None
        self.taken: list[int] = []

    def part(self, batch: Batch) -> Batch:
        return batch

    def send(self, batch: Batch) -> int:
        if self.error is not None:
            raise self.error
        self.taken.append(batch.seq)
        return 0


def publish(spooled: SpooledSinks, batch: Batch, now: float) -> None:
    """Spool ``batch``, then send what waits."""
    spooled.keep(batch)
    spooled.drain(now)
