"""Who drains the spool, and when: a thread of its own on a node, the loop itself where time waits for the agent."""

import logging
import threading
import zlib
from collections.abc import Callable
from typing import Final, Protocol

from agents.sinks.publisher import Publisher

logger = logging.getLogger(__name__)
# Seconds over which a fleet spreads its sending, each node at its own moment of the minute.
SPREAD: Final = 20.0
# Attempts after a failed one, before the next minute brings a new batch and a new turn anyway.
RETRIES: Final = 2
_FIRST_BACKOFF: Final = 5.0
# Seconds for the last turn of an agent that is told to stop: with the monitor's grace well below systemd's patience.
LAST_TURN: Final = 20.0


class Sender(Protocol):
    """Sends what the publisher keeps."""

    def wake(self) -> None:
        """There is a new batch."""

    def stop(self) -> None:
        """Send once more what is waiting, and end; what does not go in time stays on disk for the next agent."""


class InlineSender:
    """Sends while the loop waits: for standard output and for virtual time, which must not run ahead of a batch."""

    def __init__(self, publisher: Publisher, now: Callable[[], float]) -> None:
        self._publisher = publisher
        self._now = now

    def wake(self) -> None:
        """Send at once."""
        self._publisher.drain(self._now())

    def stop(self) -> None:
        """Nothing is left to do: the last batch went when it came."""


class BackgroundSender:
    """One daemon thread: a call that hangs delays neither the loop nor the agent's end by more than ``LAST_TURN``."""

    def __init__(
        self, publisher: Publisher, now: Callable[[], float], node: str, pause: Callable[[float], bool] | None = None
    ) -> None:
        """``pause`` waits that many seconds and says whether the sender is to end; tests have a faster one."""
        self._publisher = publisher
        self._now = now
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
        """Have one last turn, waited for no longer than ``limit`` seconds."""
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
            return self._publisher.drain(self._now())
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
