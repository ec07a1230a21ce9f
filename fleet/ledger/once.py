"""One event for each node and minute: what was sent twice, or published in parts, is paid for once."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.ledger.categories import Category
from fleet.ledger.node_minute import NodeMinute


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
