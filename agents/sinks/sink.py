"""What is asked of a sink, which takes batches from the spool, and of an exporter, which shows the last minute.

The simplest sink is standard output.
"""

import json
import sys
from math import inf
from typing import Protocol

from agents.minute.batch import Batch


class Sink(Protocol):
    """One destination."""

    @property
    def name(self) -> str:
        """Its name on disk and in logs."""
        ...

    @property
    def longest_age(self) -> float:
        """Seconds after which a batch is no longer sent here."""
        ...

    @property
    def is_record(self) -> bool:
        """Whether a batch that it never took is lost: the log is the record, a metric is its summary."""
        ...

    def part(self, batch: Batch) -> Batch:
        """What of ``batch`` this sink sends: all that its lane of the spool keeps."""
        ...

    def send(self, batch: Batch) -> int:
        """Send one batch and return how many calls had to be repeated.

        Raises:
            SinkError: not confirmed.
            SinkRejectedError: refused for what it is.
        """
        ...


class Exporter(Protocol):
    """Shows the last minute to whoever asks. Nothing is spooled for it: what nobody looked at is gone."""

    @property
    def name(self) -> str:
        """Its name in problems and logs."""
        ...

    def show(self, batch: Batch) -> None:
        """Take the fresh ``batch``, at once: it is called in the agent's loop. What it raises is logged and counted."""
        ...


class StdoutSink:
    """For a look at a node without an account."""

    name = "stdout"
    longest_age = inf
    is_record = True

    def part(self, batch: Batch) -> Batch:
        """All of it."""
        return batch

    def send(self, batch: Batch) -> int:
        """Print the batch."""
        content = {"metric_data": list(batch.metric_data), "log_event": batch.log_event}
        sys.stdout.write(json.dumps(content, separators=(",", ":")) + "\n")
        sys.stdout.flush()
        return 0
