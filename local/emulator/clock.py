"""The time that the embedded AWS lives in: the machine's, until somebody sets a virtual one."""

import time
from collections.abc import Iterator


class EmulatorClock:
    """Unix seconds, UTC. Once set, it stands still until it is set again."""

    def __init__(self) -> None:
        self._virtual: float | None = None

    @property
    def virtual_now(self) -> float | None:
        """The virtual time, or ``None`` while the machine's time is used."""
        return self._virtual

    def now(self) -> float:
        """The current time."""
        return time.time() if self._virtual is None else self._virtual

    def advance(self, now: float) -> Iterator[float]:
        """Set the time, stopping at each whole minute after the last set time; the first call stops once.

        Raises ``ValueError`` when time would run backwards.
        """
        last = self._virtual
        if last is not None and now < last:
            raise ValueError(f"now {now}: the virtual clock already shows {last} and does not run backwards")
        minute = now // 60 * 60 if last is None else last // 60 * 60 + 60
        while minute <= now:
            self._virtual = minute
            yield minute
            minute += 60
        self._virtual = now
