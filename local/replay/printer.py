"""What a replayed node's neuron-monitor prints, and the parse of it.

A report's noise is drawn from a few variants of each phase, so that most reports of a fleet are equal byte for byte.
Equal lines are parsed once: parsing is a function of the bytes, and its result is never changed.
"""

from functools import lru_cache
from typing import Final

from agents.monitor.decode.parse import parse
from agents.monitor.decode.report import Report
from local.simulation.report import FIRST_PERIOD_SECONDS, LATER_BY_SECONDS, ReportBuilder
from local.simulation.script import Phase, Script

VARIANTS: Final = 6
_REPORTS_KEPT: Final = 512


@lru_cache(maxsize=_REPORTS_KEPT)
def parsed(line: bytes) -> Report:
    """``agents.monitor.decode.parse``, once for equal lines; what it raises is raised every time."""
    return parse(line)


class Printer:
    """Prints the reports of all nodes of a fleet: nodes that go through the same phases print the same lines."""

    def __init__(self, period_seconds: int) -> None:
        self._period = period_seconds + LATER_BY_SECONDS
        self._builders: dict[Script, ReportBuilder] = {}
        self._printed: dict[tuple[tuple[Phase, ...], int], bytes] = {}

    def first(self, script: Script, now: float) -> bytes:
        """The report that comes at once when the monitor starts, and covers almost nothing."""
        return self._builder(script).line(now, FIRST_PERIOD_SECONDS)

    def line(self, script: Script, now: float, tick: int) -> bytes:
        """The report of virtual second ``now``, the node's ``tick``-th."""
        key = (script.all_phases_at(now), tick % VARIANTS)
        line = self._printed.get(key)
        if line is None:
            line = self._printed[key] = self._builder(script).line(now, self._period)
        return line

    def _builder(self, script: Script) -> ReportBuilder:
        builder = self._builders.get(script)
        if builder is None:
            builder = self._builders[script] = ReportBuilder(script)
        return builder
