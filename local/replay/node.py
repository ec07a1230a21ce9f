"""One replayed node: what it lives through, and what of it reaches CloudWatch. What cannot be sent waits in memory."""

from dataclasses import replace
from typing import Final

from agents.minute.batch import Datum, NodeMinute
from local.replay.life import Life
from local.replay.living import ENVIRONMENT, Lines, Living, config
from local.replay.printer import Printer as Reports
from local.replay.scenario import EventKind
from local.replay.series import Pushed, SeriesPoint

__all__ = ["ENVIRONMENT", "Lines", "Printer", "ReplayedNode"]

# Older batches go to the log event only.
_OLDEST_MINUTES: Final = 180
_SILENT: Final[tuple[EventKind, ...]] = ("agent-down", "no-route")
# So many nodes that go through the same differ by their noise; the others are like one of them.
_NOISES: Final = 2


class Printer(Reports):
    """What the nodes of a fleet have in common: the reports, and what those that go through the same live through."""

    def __init__(self, period_seconds: int) -> None:
        super().__init__(period_seconds)
        self._livings: dict[object, Living] = {}

    def living(self, name: str, life: Life, start: int, period_seconds: int, recorded: Lines | None) -> Living:
        """Of the first node that goes through what this one does, with the same noise."""
        events = tuple((event.kind, event.at, event.until) for event in life.fleet.events if life.index in event.nodes)
        jobs = tuple((job.id, job.owner, str(job.phases_of(life.index))) for job in life.tenants)
        key = (name, life.script, jobs, events, life.index % _NOISES)
        if key not in self._livings:
            self._livings[key] = Living(name, life, start, self, period_seconds, recorded)
        return self._livings[key]


class ReplayedNode:
    """Lives one minute after the other. ``recorded`` gives the lines of a minute in place of the stand-in's."""

    def __init__(  # noqa: PLR0913, PLR0917  whose node it is, its time, and what it says
        self,
        name: str,
        life: Life,
        start: int,
        printer: Printer,
        period_seconds: int,
        recorded: Lines | None = None,
        pushed: Pushed | None = None,
    ) -> None:
        self.fleet = name
        self.life = life
        self._pushed = pushed
        self._config = config(name, life, period_seconds)
        self.name = self._config.node
        self._living = printer.living(name, life, start, period_seconds, recorded)
        self._waiting: list[tuple[int, tuple[Datum, ...]]] = []
        self._unpushed: list[SeriesPoint] = []

    def minute(self, index: int, *, reachable: bool) -> tuple[NodeMinute | None, list[Datum]]:
        """What the node knows of its minute ``index``, None without an agent, and the datums that reach CloudWatch."""
        lived = self._living.minute(index, len(self._waiting))
        if lived is None:
            if self.life.happens("node-gone", index):
                # What this machine kept is lost with it.
                self._waiting, self._unpushed = [], []
            return None, []
        entry, datums = self._named(lived[0]), lived[1]
        self._waiting.append((index, datums))
        if self._pushed is not None:
            self._unpushed += self._pushed.of(entry, datums)
        if not reachable or self.life.happens("no-route", index):
            return entry, []
        sent, self._waiting = self._waiting, []
        return entry, [datum for kept, datums in sent if index - kept <= _OLDEST_MINUTES for datum in datums]

    def push(self, index: int, *, reachable: bool) -> list[SeriesPoint]:
        """The series that reach CloudWatch after minute ``index``: they wait on the node's disk as datums do."""
        if not reachable or any(self.life.happens(what, index) for what in _SILENT):
            return []
        sent, self._unpushed = self._unpushed, []
        return sent

    def _named(self, entry: NodeMinute) -> NodeMinute:
        if entry.node.name == self.name:
            return entry
        return replace(entry, node=replace(entry.node, name=self.name, config=self._config))
