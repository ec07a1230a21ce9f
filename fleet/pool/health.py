"""Which nodes are to be replaced, and how many of them now.

A node is unhealthy when its agent told of a hardware error or a failed health gate, or when it takes no tasks although
it should. (What EC2's own status checks find, Auto Scaling replaces by itself.) Whatever the cause, only a share of a
pool is replaced at once, and in an hour: what makes every node fail is an image or a version, and new nodes fail alike.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fleet.pool.observed import Fault, Memory, Node, PoolDeployment, Seen

# The gate waits up to sixteen minutes, and an image with its packages takes its time to boot.
JOINS_WITHIN: Final = timedelta(minutes=30)
# An ECS agent that is updated, or loses its connection, is back soon.
SILENT_FOR: Final = timedelta(minutes=15)
# How long a fault is remembered against a node. The agent repeats it every minute while it stands.
FAULT_STANDS: Final = timedelta(minutes=15)
STORM_WITHIN: Final = timedelta(hours=1)
# Rounds of ``replace_at_once`` in that time.
STORM_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """``give_up``: nodes to be replaced now, with the reason; ``unfit``: all that take no job, those among them."""

    give_up: dict[str, str]
    unfit: frozenset[str]
    memory: Memory
    problems: tuple[str, ...] = ()


def judge(place: PoolDeployment, seen: Seen, held: Collection[str], now: datetime) -> Verdict:
    """The pool's nodes at ``now``; ``held`` are those that jobs hold."""
    memory = _remembered(seen, held, now)
    found = {
        node.instance_id: reason for node in seen.nodes for reason in _unhealthy(place, node, seen, memory, held, now)
    }
    # Those that hold nothing first: nobody has to stop for them.
    order = sorted(found, key=lambda each: (each in held, each))
    under_way = sum(1 for node in seen.nodes if node.is_leaving)
    lately = sum(1 for each in memory.replaced if now - each.at < STORM_WITHIN)
    room = max(0, place.replace_at_once - under_way)
    allowed = max(0, min(room, STORM_ROUNDS * place.replace_at_once - lately))
    is_storm = bool(order) and allowed < min(room, len(order))
    problems = (_storm(place, lately, len(order), f"{order[0]}: {found[order[0]]}"),) if is_storm else ()
    return Verdict({each: found[each] for each in order[:allowed]}, frozenset(found), memory, problems)


def _storm(place: PoolDeployment, lately: int, unhealthy: int, example: str) -> str:
    return (
        f"{lately} nodes of {place.fleet} were replaced within an hour, and {unhealthy} are unhealthy still: no more "
        f"are replaced for now; {example}"
    )


def replaced(memory: Memory, instance_id: str, reason: str, now: datetime) -> Memory:
    """``memory`` with one node more that was given up."""
    return replace(memory, replaced=(*memory.replaced, Fault(instance_id, reason, now)))


def _remembered(seen: Seen, held: Collection[str], now: datetime) -> Memory:
    silent = {
        node.instance_id: seen.memory.silent.get(node.instance_id, now)
        for node in seen.nodes
        if node.is_in_service and (not node.takes_tasks or (node.instance_id not in held and seen.held_by(node)))
    }
    return Memory(tuple(each for each in seen.memory.replaced if now - each.at < STORM_WITHIN), silent)


def _unhealthy(
    place: PoolDeployment, node: Node, seen: Seen, memory: Memory, held: Collection[str], now: datetime
) -> Iterator[str]:
    """At most one reason."""
    if not node.is_in_service:
        return
    faults = [each for each in seen.faults if each.instance_id == node.instance_id and now - each.at < FAULT_STANDS]
    if faults:
        yield faults[-1].reason
    elif node.instance_id in memory.silent and node.instance_id not in held:
        silent = now - memory.silent[node.instance_id]
        if not node.container_instance and now - node.launched_at >= JOINS_WITHIN:
            yield f"it has not joined its cluster within {JOINS_WITHIN.seconds // 60} minutes of its launch"
        elif node.takes_tasks and silent >= place.drain + SILENT_FOR:
            yield "a container on it does not end"
        elif node.container_instance and not node.takes_tasks and silent >= SILENT_FOR:
            yield f"its ECS agent has taken no tasks for {SILENT_FOR.seconds // 60} minutes"
