"""At which step all ranks save, agreed on through the store.

A rank that learns that its node goes is alone with that: the others train on, and a step that only one rank saves is
no checkpoint. So it orders a save at a step a little ahead, and every rank looks for orders from time to time. Orders
are numbered; of two ranks that give one at once, one does, and the other finds it there.

One look is one read of the order that would be next, and it is made by a thread, so that a step waits for no store.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fleet.checkpoints.layout import order
from workload.checkpoint.stores.store import Store
from workload.errors import StoreError

_JOIN_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Order:
    """Save at ``step``; ``ends``: and end then. ``rank`` gave it."""

    step: int
    ends: bool
    rank: int


class Orders:
    """Those of one run, as far as this rank knows them. Safe for two threads."""

    def __init__(self, store: Store, run: str, rank: int) -> None:
        self._store, self._run, self._rank = store, run, rank
        self._known: list[Order] = []
        self._lock = threading.Lock()
        self.problem = ""
        """Why the last look failed; empty when it did not. Orders that could not be looked for may still come."""

    def look(self) -> None:
        """Learn every order that was given since the last look."""
        with self._lock:
            try:
                while (content := self._store.read(self._next_key())) is not None:
                    self._known.append(_decoded(content))
                self.problem = ""
            except StoreError as error:
                self.problem = str(error)

    def give(self, step: int, *, ends: bool) -> Order:
        """Order a save at ``step``; the order that holds, which may be another rank's that is as strong.

        Raises:
            StoreError: it could not be given.
        """
        wanted = Order(step, ends, self._rank)
        content = json.dumps({"step": step, "ends": ends, "rank": self._rank}, sort_keys=True).encode()
        with self._lock:
            while True:
                held = _decoded(self._store.create(self._next_key(), content))
                self._known.append(held)
                if held == wanted or (held.step >= step and held.ends >= ends):
                    return held

    def at(self, step: int) -> Order | None:
        """The order for exactly this step, the one that ends if there are two."""
        return max((o for o in tuple(self._known) if o.step == step), key=lambda o: o.ends, default=None)

    def ahead(self, step: int) -> Order | None:
        """The strongest order for a step after this one."""
        return max((o for o in tuple(self._known) if o.step > step), key=lambda o: (o.ends, -o.step), default=None)

    def end(self) -> int | None:
        """The first step at which the job ends; None: it was not ordered to."""
        return min((o.step for o in tuple(self._known) if o.ends), default=None)

    @contextlib.contextmanager
    def watched(self, seconds: float) -> Iterator[None]:
        """Look every ``seconds``, from a thread of its own that ends with the block."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(seconds):
                self.look()

        thread = threading.Thread(target=watch, name="checkpoint-orders", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(_JOIN_SECONDS)

    def _next_key(self) -> str:
        return order(self._run, len(self._known))


def _decoded(content: bytes) -> Order:
    try:
        data = json.loads(content)
        return Order(int(data["step"]), bool(data["ends"]), int(data["rank"]))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{content[:100]!r} is no order to save") from error
