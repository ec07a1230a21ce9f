"""Virtual time for the production agent: it moves only when everything that is due has happened.

The agent waits in ``get`` alone. There the clock looks at what comes next (the wait's own end, the monitor's next
report, the horizon that the coordinator set), jumps to it, and lets the stand-in print before anything else may
happen. What the agent publishes depends on the script and never on the speed of the machine.
"""

import queue
from collections.abc import Callable
from typing import Final, TypeVar

from agents.monitor.process import MonitorExited, MonitorLine, MonitorStarted
from local.simulation.monitor_link import REAL_LIMIT_SECONDS, Command, MonitorDoor, MonitorLink, SimulationStuckError

T = TypeVar("T")
NEVER: Final = float("inf")


class VirtualClock:
    """The agent's clock.

    ``next_horizon`` is called when time has come to the horizon: it returns the new one once it is known, or None when
    the simulation is over and every later wait ends at once. ``on_advance`` is told every new moment before anything
    of that moment happens.
    """

    def __init__(
        self,
        start: float,
        door: MonitorDoor,
        next_horizon: Callable[[float], float | None],
        on_advance: Callable[[float], None],
    ) -> None:
        self._now = start
        self._horizon = start
        self._door = door
        self._next_horizon = next_horizon
        self._on_advance = on_advance
        self._link: MonitorLink | None = None
        self._next_report = NEVER
        self._period = NEVER
        self._stopped = False
        self._owed_lines = 0
        self._owed_exit = False
        on_advance(start)

    def now(self) -> float:
        """Virtual unix seconds."""
        return self._now

    def get(self, events: "queue.Queue[T]", timeout: float) -> T:
        """The next item, at the virtual moment it happens.

        Raises:
            queue.Empty: Nothing happened for ``timeout`` virtual seconds.
            SimulationStuckError: The agent or its monitor owes an event and does not deliver it.
        """
        deadline = self._now + max(0.0, timeout)
        while True:
            item = self._item(events)
            if item is not None:
                self._note(item)
                return item
            if self._stopped:
                raise queue.Empty
            if self._ask(emit=False):
                continue
            due = min(deadline, self._next_report)
            if due > self._horizon:
                self._advance(self._horizon)
                self._wait_for_horizon()
                continue
            self._advance(due)
            if due < self._next_report:
                raise queue.Empty
            self._next_report += self._period
            self._ask(emit=True)

    def _item(self, events: "queue.Queue[T]") -> T | None:
        owed = self._owed_lines > 0 or self._owed_exit
        try:
            return events.get(timeout=REAL_LIMIT_SECONDS) if owed else events.get_nowait()
        except queue.Empty:
            if owed:
                what = "the monitor's end" if self._owed_exit else "a line that the monitor printed"
                raise SimulationStuckError(f"the agent did not see {what} in {REAL_LIMIT_SECONDS:.0f} s") from None
            return None

    def _ask(self, *, emit: bool) -> bool:
        """Let the monitor act at this moment; whether an event follows from it.

        It is asked even when no report is due: a monitor that the agent has just killed, or whose script ends now,
        cannot answer, and its end has to be seen before time moves on.
        """
        if self._link is None:
            return False
        lines = self._link.ask(Command(self._now, emit))
        if lines is None:
            self._lose_link()
            self._owed_exit = True
            return True
        self._owed_lines += lines
        return lines > 0

    def _wait_for_horizon(self) -> None:
        horizon = self._next_horizon(self._now)
        if horizon is None:
            self._stopped = True
        else:
            self._horizon = horizon

    def _note(self, item: object) -> None:
        match item:
            case MonitorStarted():
                self._meet(self._door.admit())
            case MonitorLine():
                self._owed_lines -= 1
            case MonitorExited():
                self._lose_link()
                self._owed_exit = False
                self._owed_lines = 0

    def _meet(self, link: MonitorLink | None) -> None:
        self._link = link
        if link is None:
            self._owed_exit = True
            return
        self._period = link.hello.period_seconds or NEVER
        self._next_report = NEVER if link.hello.period_seconds is None else self._now

    def _lose_link(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None
        self._next_report = NEVER

    def _advance(self, moment: float) -> None:
        if moment > self._now:
            self._now = moment
            self._on_advance(moment)
