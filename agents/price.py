"""What an hour of this node costs: told at boot, and read anew once a day from the table that AWS's prices are kept in.

The loop never waits for the table: it is read by a thread of its own, and until it has answered the newest price that
is known counts. A table that does not answer, or answers nonsense, changes nothing.
"""

import hashlib
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from agents.config import PriceConfig
from fleet.prices.age import staleness

logger = logging.getLogger(__name__)
_DAY: Final = 86_400.0
# Nodes of a fleet boot together; over an hour they do not ask together.
_SPREAD: Final = 3_600.0
_AFTER_FAILURE: Final = 900.0

Read = Callable[[], PriceConfig | None]


class PriceKeeper:
    """``default`` is the configuration's price; ``read`` asks the table and may raise anything, None: there is none.

    ``inline``: the caller waits for each answer, as where time waits for the agent.
    """

    def __init__(
        self, default: PriceConfig | None, read: Read | None = None, node: str = "", *, inline: bool = False
    ) -> None:
        self._price, self._read, self._inline = default, read, inline
        self._due = 0.0
        self._spread = int.from_bytes(hashlib.sha256(node.encode()).digest()[:4]) / 2**32 * _SPREAD
        self._asking: threading.Thread | None = None
        self._lock = threading.Lock()

    def current(self, now: float) -> PriceConfig | None:
        """The newest price that is known at ``now``; starts to ask for a newer one when that is due."""
        if self._read is not None and now >= self._due and not (self._asking and self._asking.is_alive()):
            self._due = now + _AFTER_FAILURE
            if self._inline:
                self._ask(self._read, now)
            else:
                self._asking = threading.Thread(target=self._ask, args=(self._read, now), name="price", daemon=True)
                self._asking.start()
        with self._lock:
            return self._price

    def _ask(self, read: Read, now: float) -> None:
        try:
            found = read()
        except Exception as error:
            # Whatever it is, the node goes on at the price that it knows.
            logger.warning("the price was not read, the one of %s stays: %s", self._as_of(), error)
            return
        with self._lock:
            self._due = now + _DAY + self._spread
            if found is not None and (self._price is None or found.as_of >= self._price.as_of):
                self._price = found

    def _as_of(self) -> str:
        return self._price.as_of if self._price else "no day"


def is_stale(price: PriceConfig, minute: int) -> bool:
    """Whether the price is older, at ``minute`` (unix seconds), than its kind allows."""
    return staleness(price, datetime.fromtimestamp(minute, UTC).date()) is not None
