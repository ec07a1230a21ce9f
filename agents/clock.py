"""The agent's only source of time, so that a simulation can run the same agent in virtual time."""

import queue
import threading
import time
from typing import Final, Protocol, TypeVar

T = TypeVar("T")
# How long a stop request may go unnoticed, seconds.
_STOP_POLL: Final = 1.0


class Clock(Protocol):
    """Time and waiting. Everything that waits in the agent's loop waits here."""

    def now(self) -> float:
        """Unix seconds, UTC."""
        ...

    def get(self, events: "queue.Queue[T]", timeout: float) -> T:
        """The next item; raises ``queue.Empty`` when none came within ``timeout`` seconds of this clock."""
        ...


class SystemClock:
    """The machine's clock. A set ``stop`` ends a wait early, as if its time had passed."""

    def __init__(self, stop: threading.Event | None = None) -> None:
        self._stop = stop or threading.Event()

    def now(self) -> float:
        """Unix seconds, UTC."""
        return time.time()

    def get(self, events: "queue.Queue[T]", timeout: float) -> T:
        """The next item, or ``queue.Empty`` after ``timeout`` seconds or a stop request."""
        deadline = time.monotonic() + timeout
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or self._stop.is_set():
                return events.get_nowait()
            try:
                return events.get(timeout=min(remaining, _STOP_POLL))
            except queue.Empty:
                continue
