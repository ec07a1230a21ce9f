"""What the node events of the last minutes say about an alarm: nodes worst first, their states, the dollars. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, takewhile
from typing import Final

from fleet.alarm_page import EvidenceKind
from fleet.node_state import NodeState
from lambdas.pager.log_events import NodeEvent, Price, SeenError

MINUTE: Final = timedelta(minutes=1)
# Three missing reports make a node blind, and a query may not find the newest event for another minute.
SILENT_AFTER: Final = 4 * MINUTE
# The breach began where waste first reached half of what it is now: early minutes of a slide would hide it, and the
# few percent that a healthy fleet is below its target would move it to the start of the window.
BREACH_SHARE: Final = 0.5
NO_EVENT: Final = "NO EVENT"
SILENT: Final = frozenset({NodeState.BLIND.value, NO_EVENT})
# Alarms about a node's state began when the first of the nodes entered it, whatever was wasted before.
CAUSES: Final = {
    EvidenceKind.SILENT_NODES: SILENT,
    EvidenceKind.FAULTY_NODES: frozenset({NodeState.FAULT.value}),
    EvidenceKind.UNUSED_NODES: frozenset({NodeState.NO_JOB.value}),
}


@dataclass(frozen=True, slots=True)
class StateInterval:
    """A state that a node kept, from ``start`` on."""

    state: str
    start: datetime


@dataclass(frozen=True, slots=True)
class Node:
    """One node at the time of the alarm. ``usd_per_hour`` is what it loses now, None where nothing says it."""

    last: NodeEvent
    state: str
    intervals: tuple[StateInterval, ...]
    errors: tuple[SeenError, ...]
    usd_per_hour: float | None

    @property
    def is_silent(self) -> bool:
        """Whether nobody knows what the node does."""
        return self.state in SILENT

    @property
    def utilization(self) -> float | None:
        """Percent: of the tensor engines where the tools report FLOPs, else of the cores' time."""
        measured = self.last.tensor_engine_utilization
        return self.last.neuron_core_utilization if measured is None else measured


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known. ``usd_since`` counts from ``began``; both are None when no node reported a loss."""

    nodes: tuple[Node, ...]
    began: datetime | None
    usd_per_hour: float | None
    usd_since: float | None

    @property
    def price(self) -> Price | None:
        """The price behind the dollars: that of the worst node that has one."""
        return next((node.last.price for node in self.nodes if node.last.price), None)

    @property
    def is_unwatched(self) -> bool:
        """Whether all the dollars are those of nodes that nobody sees, which may well be working."""
        losing = [node for node in self.nodes if node.usd_per_hour]
        return bool(losing) and all(node.is_silent for node in losing)

    @property
    def jobs(self) -> tuple[tuple[str, str], ...]:
        """(job, owner) of the nodes that may be the cause, worst node's first, each once."""
        suspects = [node for node in self.nodes if node.usd_per_hour is None or self._is_cause(node)]
        return tuple(dict.fromkeys((_job(node.last), node.last.owner or "no owner known") for node in suspects))

    @property
    def owners(self) -> tuple[str, ...]:
        """The owners of the nodes that are the cause, as far as they are known."""
        return tuple(dict.fromkeys(node.last.owner for node in self.nodes if self._is_cause(node) and node.last.owner))

    def _is_cause(self, node: Node) -> bool:
        """Whether it loses at least half of what the worst one loses: another job of the fleet may well be fine."""
        worst = max(each.usd_per_hour or 0.0 for each in self.nodes)
        return (node.usd_per_hour or 0.0) >= BREACH_SHARE * worst


def collect(
    events: Iterable[NodeEvent], kind: EvidenceKind, at: datetime, mean_waste: Mapping[datetime, float] | None = None
) -> Evidence:
    """The evidence for an alarm that changed state ``at``; twins and later events are left out.

    Where the events are only the first and the last of each of a node's states, ``mean_waste`` (USD an hour of the mean
    node, by minute) says what the minutes between them cost.
    """
    # The minute too: an agent whose disk lost its counter begins again at 1, and those events are no twins.
    unique = {(event.node, event.boot_id, event.seq, event.minute): event for event in events if event.minute <= at}
    ordered = sorted(unique.values(), key=lambda event: (event.node, event.minute, event.seq))
    histories = [tuple(history) for _, history in groupby(ordered, key=lambda event: event.node)]
    nodes = [(_node(history, at), history) for history in histories]
    causes = CAUSES.get(kind, frozenset())
    # Only the nodes in that state are the matter; should none be in it any more, all of them are shown.
    nodes = [(node, history) for node, history in nodes if node.state in causes] or nodes
    entered = min((node.intervals[-1].start for node, _ in nodes if node.state in causes), default=None)
    began, since = _breach([history for _, history in nodes], at, entered)
    if mean_waste and entered is None:
        began, since = _breach_of({minute: usd * len(nodes) for minute, usd in mean_waste.items()}) or (began, since)
    known = [node.usd_per_hour for node, _ in nodes if node.usd_per_hour is not None]
    worst_first = tuple(sorted((node for node, _ in nodes), key=_badness))
    return Evidence(worst_first, began, sum(known) if known else None, since)


def loss(event: NodeEvent) -> float | None:
    """USD an hour that the node loses in a minute: all of its price while faulty or blind, else its measured waste."""
    if event.state in {NodeState.FAULT, NodeState.BLIND}:
        return _price(event)
    return event.wasted_usd_per_hour


def _price(event: NodeEvent) -> float | None:
    if event.cost_usd_per_hour is not None:
        return event.cost_usd_per_hour
    return event.price.usd_per_hour if event.price else None


def _job(event: NodeEvent) -> str:
    if event.job_name and event.job and event.job_name != event.job:
        return f"{event.job_name} ({event.job})"
    return event.job_name or event.job or "no job known"


def _gone(last: NodeEvent, minute: datetime) -> bool:
    return minute - last.minute > SILENT_AFTER


def _node(history: Sequence[NodeEvent], at: datetime) -> Node:
    last = history[-1]
    intervals: list[StateInterval] = []
    for event in history:
        if not intervals or intervals[-1].state != event.state:
            intervals.append(StateInterval(event.state, event.minute))
    if _gone(last, at):
        intervals.append(StateInterval(NO_EVENT, last.minute + MINUTE))
    errors = tuple(dict.fromkeys(error for event in history for error in event.hardware_errors))
    return Node(last, intervals[-1].state, tuple(intervals), errors, _loss_at(history, at, at))


def _loss_at(history: Sequence[NodeEvent], minute: datetime, at: datetime) -> float | None:
    """The loss in ``minute``; the last known one is carried on, and a node that fell silent loses its price."""
    past = [event for event in history if event.minute <= minute]
    if not past:
        return None
    if past[-1] is history[-1] and minute > past[-1].minute and _gone(past[-1], at):
        return _price(past[-1])
    return loss(past[-1])


def _breach(
    histories: Sequence[Sequence[NodeEvent]], at: datetime, entered: datetime | None
) -> tuple[datetime | None, float | None]:
    """When it began (``entered``, or when the present loss did), and the USD lost since then."""
    if not histories:
        return None, None
    minute = at.replace(second=0, microsecond=0)
    first = min(history[0].minute for history in histories)
    now = _total(histories, minute, at)
    if now <= 0:
        return entered, None
    began, lost = minute, 0.0
    while minute - MINUTE >= first:
        minute -= MINUTE
        rate = _total(histories, minute, at)
        if minute < entered if entered else rate < BREACH_SHARE * now:
            break
        began, lost = minute, lost + rate / 60
    return began, lost


def _breach_of(fleet_usd: Mapping[datetime, float]) -> tuple[datetime, float] | None:
    """As ``_breach``, of the fleet's USD an hour by minute; a minute without a figure counts as the one before it."""
    newest_first = sorted(fleet_usd.items(), reverse=True)
    if not newest_first or newest_first[0][1] <= 0:
        return None
    lasting = list(takewhile(lambda each: each[1] >= BREACH_SHARE * newest_first[0][1], newest_first))
    began, ends = lasting[-1][0], [newest_first[0][0] + MINUTE, *(minute for minute, _ in lasting)]
    hours = ((end - minute).total_seconds() / 3600 for (minute, _), end in zip(lasting, ends, strict=False))
    return began, sum(usd * span for (_, usd), span in zip(lasting, hours, strict=True))


def _total(histories: Sequence[Sequence[NodeEvent]], minute: datetime, at: datetime) -> float:
    return sum(_loss_at(history, minute, at) or 0.0 for history in histories)


def _badness(node: Node) -> tuple[bool, bool, bool, float, float, str]:
    return (
        node.state != NodeState.FAULT,
        not node.errors,
        not node.is_silent,
        -(node.usd_per_hour or 0.0),
        node.utilization if node.utilization is not None else 100.0,
        node.last.node,
    )
