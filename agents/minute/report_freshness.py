"""How long ago the node was seen: when a report came, when one measured something, and what came that was none."""

import logging

from agents.minute.window import Reading
from fleet.metrics import PERIOD_SECONDS

logger = logging.getLogger(__name__)
_BLIND_PERIODS = 3
# A monitor that prints nothing but garbage must not fill the node's journal, nor the agent's memory.
_UNREADABLE_LOGGED = 5


class ReportFreshness:
    """The monitor's lines as they came, in unix seconds.

    ``unreadable`` counts those of a minute that are no report; ``last_unreadable`` is why the last of them is none.
    """

    def __init__(self, started: float, period_seconds: int) -> None:
        """Until a report comes, its age counts from ``started``."""
        self._report_at = self._measured_at = started
        self._period = period_seconds
        self._has_report = False
        self.unreadable = 0
        self.last_unreadable = ""

    def add(self, reading: Reading) -> None:
        """A report came."""
        self._has_report, self._report_at = True, reading.at
        self._measured_at = reading.at if reading.sample.is_measured else self._measured_at

    def add_unreadable(self, why: str) -> None:
        """A line came that is not a report."""
        self.unreadable += 1
        self.last_unreadable = why
        if self.unreadable <= _UNREADABLE_LOGGED:
            logger.warning("unreadable line: %s", why)

    def clock_went_forward(self, seconds: float) -> None:
        """Nobody lived through these ``seconds``: the last report is no older for them."""
        self._report_at += seconds
        self._measured_at += seconds

    def clamp(self, now: float) -> None:
        """A clock that was set back must not make the last report come from the future."""
        self._report_at, self._measured_at = min(self._report_at, now), min(self._measured_at, now)

    def age(self, now: float) -> float:
        """Seconds since the last report."""
        return max(0.0, now - self._report_at)

    def blind(self, now: float, monitor: str | None) -> str | None:
        """Why nothing is seen; None while reports come that measure. ``monitor`` is why the monitor is down."""
        age = now - self._report_at
        if self._has_report and age <= _BLIND_PERIODS * self._period:
            # A monitor that dies after each first report prints enough, and measures nothing.
            age = now - self._measured_at
            if age <= max(_BLIND_PERIODS * self._period, PERIOD_SECONDS):
                return None
            return f"no report covered enough time for {age:.0f} s: {monitor or 'only first reports came'}"
        why = monitor or (self.last_unreadable if self.unreadable else "neuron-monitor is silent")
        return f"no readable report {'for' if self._has_report else 'yet, after'} {age:.0f} s: {why}"
