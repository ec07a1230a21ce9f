"""The words that rules are made of: which series, looked at over how long.

Agents send over 20 seconds, what they sent may become visible minutes later, some of it twice, and a node's clock may
be minutes off: so every series is read over a range. No range is a whole number of minutes, for Prometheus 2 counts a
sample on its left edge and Prometheus 3 does not (Prometheus 3.0 migration guide, "Range selectors and lookback exclude
samples coinciding with the left boundary", read 2026-11-23).
"""

from dataclasses import dataclass
from typing import Final

from fleet.alarms.settings import AlarmSettings
from fleet.node_state import NodeState

# Five minutes until the last datum can be seen, three of a slow clock, and one minute between two data.
LATE: Final = "9m30s"
QUARTER: Final = "15m30s"


@dataclass(frozen=True, slots=True)
class Series:
    """The series of one fleet."""

    environment: str
    fleet: str

    @classmethod
    def of(cls, settings: AlarmSettings) -> "Series":
        """Those that the alarms of ``settings`` read."""
        return cls(settings.environment, settings.fleet)

    def last(self, name: str, window: str = LATE) -> str:
        """The newest that can be seen: repeated and late minutes change nothing."""
        return f"last_over_time({self.named(name)}[{window}])"

    def most(self, name: str, window: str = LATE) -> str:
        """For what is sent only while it is so, and for counts of which one is enough."""
        return f"max_over_time({self.named(name)}[{window}])"

    def mean(self, name: str, window: str = QUARTER) -> str:
        """A mean is as good when some minutes are missing; a sum is not."""
        return f"avg_over_time({self.named(name)}[{window}])"

    def below_share(self, share: float, name: str, window: str = QUARTER, before: str | None = None) -> str:
        """The value that ``share`` of the window's minutes do not exceed: M of N minutes, however many came."""
        return f"quantile_over_time({share:g}, {self.named(name)}[{window}]{_offset(before)})"

    def count(self, name: str, window: str, before: str | None = None) -> str:
        """How many minutes came."""
        return f"count_over_time({self.named(name)}[{window}]{_offset(before)})"

    def is_now(self, state: NodeState) -> str:
        """1 for nodes whose newest minute is of ``state``."""
        return self.last(_state(state))

    def was_lately(self, state: NodeState, window: str = LATE) -> str:
        """1 for nodes of which some minute was of ``state``."""
        return self.most(_state(state), window)

    def without_a_job(self) -> str:
        """Nodes that say that they have no job, so that what is left of a job that has ended is no job's."""
        return f"{self.is_now(NodeState.NO_JOB)} == 1"

    def named(self, name: str) -> str:
        """A selector. ``name`` may end in further matchers, in braces."""
        bare, _, matchers = name.removesuffix("}").partition("{")
        where = f'environment="{self.environment}",fleet="{self.fleet}"'
        return f"neuron_fleet_{bare}{{{where}{',' if matchers else ''}{matchers}}}"


def _offset(before: str | None) -> str:
    return f" offset {before}" if before else ""


def _state(state: NodeState) -> str:
    return f'node_state{{neuron_fleet_node_state="{state.value}"}}'
