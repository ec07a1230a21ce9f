"""After which step every rank saves, and after which the job ends: by wishes, schedule and orders of other ranks."""

import logging
import statistics
from collections import deque
from collections.abc import Callable
from math import ceil
from typing import Final

from workload.checkpoint.member import Habits, Member
from workload.checkpoint.signals.drain import Drain, Wish
from workload.checkpoint.signals.orders import Orders
from workload.errors import StoreError

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
