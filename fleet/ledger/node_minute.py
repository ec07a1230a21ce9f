"""A node's minute as the ledger counts it: what it was good for, what it cost, and each minute once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from fleet.node_state import NodeState
from fleet.string_enum import StringEnum


class Category(StringEnum):
    """One of each minute. ``UNSEEN`` minutes are paid for, and nobody knows what they did."""

    RUNNING = "running"
    COMPILING = "compiling"
    STARTUP = "startup"
    CHECKPOINT = "checkpoint"
    DRAINING = "draining"
    IDLE = "idle"
    FAULT = "fault"
    UNSEEN = "unseen"
    UNALLOCATED_RESERVED = "unallocated-reserved"


# What jobs hold nodes for. A node that drains may have lost its job already; it takes no new one.
ALLOCATED: Final = frozenset(
    {Category.RUNNING, Category.COMPILING, Category.STARTUP, Category.CHECKPOINT, Category.DRAINING}
)
OF_STATE: Final[Mapping[NodeState, Category]] = {
    NodeState.RUNNING: Category.RUNNING,
    NodeState.COMPILING: Category.COMPILING,
    NodeState.STARTUP: Category.STARTUP,
    NodeState.CHECKPOINT: Category.CHECKPOINT,
    # A validation is what the job is for, and its minutes are in no other category's way.
    NodeState.PHASE: Category.RUNNING,
    NodeState.WAITING: Category.STARTUP,
    NodeState.DRAINING: Category.DRAINING,
    NodeState.NO_JOB: Category.IDLE,
    NodeState.FAULT: Category.FAULT,
    NodeState.BLIND: Category.UNSEEN,
}


@dataclass(frozen=True, slots=True, order=True)
class PaidPrice:
    """What an hour of a node costs: ``rate`` in millionths of a dollar, how it is bought, who says so, since when."""

    rate: int
    kind: str
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class JobPart:
    """One job's part of a node in a minute; ``job`` is None on a node without one, which its owner pays all the same.

    ``units`` of the minute: those of all parts are ``amounts.UNITS``. ``amount`` is None without a known price, and
    ``wasted``, the part of it that bought no useful work, where that cannot be said. ``useful_cores`` are ``cores``
    times tensor-engine utilization, ``busy_cores`` times core utilization; ``tokens`` and ``samples`` are the
    minute's. None is not measured.
    """

    job: str | None
    owner: str
    units: int
    amount: int | None
    wasted: int | None = None
    cores: float | None = None
    busy_cores: float | None = None
    useful_cores: float | None = None
    tokens: float | None = None
    samples: float | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class NodeMinute:
    """One log event. ``minute`` is its start in unix seconds; ``price`` is None where it is not known.

    ``recovered`` minutes were closed by the agent after the one that was killed in them. There is always a part.
    """

    environment: str
    fleet: str
    node: str
    instance_type: str | None
    minute: int
    boot_id: str
    seq: int
    category: Category
    price: PaidPrice | None
    parts: tuple[JobPart, ...]
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """Events that are not counted: ``twins`` have the (node, boot_id, seq) of another one, ``parts`` its minute.

    An agent that is restarted publishes the minute so far, and the one after it the rest of it under the next number;
    so does one whose clock is set back.
    """

    twins: int
    parts: int


def one_per_minute(minutes: Iterable[NodeMinute]) -> tuple[tuple[NodeMinute, ...], Dropped]:
    """The event that stands for each minute, by node and time, and what was dropped for it.

    Of several a measured one before an unseen one, a whole one before one that was recovered, then the lowest number:
    its counters go on from the minute before, and those of the one after it begin anew.
    """
    events = list(minutes)
    of_minute: dict[tuple[str, int], NodeMinute] = {}
    for event in events:
        key = (event.node, event.minute)
        if key not in of_minute or _order(event) < _order(of_minute[key]):
            of_minute[key] = event
    distinct = len({(event.node, event.boot_id, event.seq, event.minute) for event in events})
    kept = tuple(of_minute[key] for key in sorted(of_minute))
    return kept, Dropped(twins=len(events) - distinct, parts=distinct - len(kept))


def _order(event: NodeMinute) -> tuple[bool, bool, int, str]:
    return event.category is Category.UNSEEN, event.recovered, event.seq, event.boot_id
