"""After which step every rank saves, and after which the job ends: by wishes, schedule and orders of other ranks.

A rank that learns that its node goes is alone with that: the others train on, and a step that only one rank saves is
no checkpoint. So it orders a save at a step a little ahead, and every rank looks for orders from time to time. Orders
are numbered and lie in the store; of two ranks that give one at once, one does, and the other finds it there.

One look is one read of the order that would be next, and it is made by a thread, so that a step waits for no store.
"""

import contextlib
import json
import logging
import statistics
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final

from fleet.checkpoints.layout import order
from workload.checkpoint.drain import Drain, Wish
from workload.checkpoint.member import Habits, Member
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


_log = logging.getLogger("neuron_fleet.checkpoint")
# Steps whose median is the pace: the first ones compile and tell nothing.
_PACE_STEPS: Final = 16


class Decider:
    """Asked after every step. Steps must have the same numbers on every rank; clocks may differ."""

    def __init__(
        self, member: Member, habits: Habits, drain: Drain, orders: Orders, monotonic: Callable[[], float]
    ) -> None:
        self._member, self._habits, self._drain, self._orders = member, habits, drain, orders
        self._monotonic = monotonic
        self._last_step: float | None = None
        self._pace: deque[float] = deque(maxlen=_PACE_STEPS)
        self._saved_at = monotonic()
        self._save_seconds: float | None = None
        self._next_order = -float("inf")
        self._end: int | None = None

    def wants(self, step: int) -> bool:
        """Whether this rank, and with it every other, saves ``step``, which was done just now."""
        now = self._monotonic()
        if self._last_step is not None:
            self._pace.append(now - self._last_step)
        self._last_step = now
        wish = self._drain.wish()
        is_due = self._habits.schedule.is_due(now - self._saved_at, self._save_seconds)
        if self._member.world_size == 1:
            return self._alone(step, wish, is_due=is_due)
        # Time is rank 0's alone to judge: clocks differ.
        is_wanted = wish is not Wish.NOTHING or (is_due and self._member.rank == 0)
        # Without a pace nobody knows which step lies far enough ahead: that is known after the second one.
        if is_wanted and self._pace and now >= self._next_order:
            self._order(step, wish)
        return self._habits.schedule.is_step(step) or self._orders.at(step) is not None

    def ends(self, step: int) -> bool:
        """Whether ``step`` is the last one."""
        end = self._end if self._member.world_size == 1 else self._orders.end()
        return end is not None and step >= end

    def saved(self, begun: float) -> None:
        """A save that began at ``begun``, by the same clock, is over: it kept training waiting until now."""
        self._saved_at = self._last_step = self._monotonic()
        self._save_seconds = max(self._saved_at - begun, 1e-3)

    def _alone(self, step: int, wish: Wish, *, is_due: bool) -> bool:
        if wish is Wish.END:
            self._end = step
        self._drain.answered()
        return wish is not Wish.NOTHING or is_due or self._habits.schedule.is_step(step)

    def _order(self, step: int, wish: Wish) -> None:
        ends = wish is Wish.END
        there = self._orders.ahead(step)
        if there is None or (ends and not there.ends):
            try:
                there = self._orders.give(step + self._steps_ahead(), ends=ends)
            except StoreError as error:
                _log.warning("no save could be ordered: %s", error)
                self._next_order = self._monotonic() + self._habits.look_seconds
                return
            _log.info("every rank saves step %d", there.step)
        self._drain.answered()

    def _steps_ahead(self) -> int:
        # No step takes less than a millisecond; a clock may stand still.
        return 1 + ceil(self._habits.ahead_seconds / max(statistics.median(self._pace), 1e-3))
