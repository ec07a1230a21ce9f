"""From what was seen of a pool to what is done about it, in this order: jobs, health, starts, size."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from fleet.pool.actions import Action, Decision, LetGo, Release, Replace, SetDesired, Start
from fleet.pool.health import judge, replaced
from fleet.pool.job import Phase, PoolJob
from fleet.pool.observed import DRAINING, Memory, Node, Place, Seen
from fleet.pool.placement import free_nodes, gang, idle_since, in_turn, mixed, next_attempt, wanted
from fleet.pool.progress import advance, held, orphans, to_stop

_CLOSED: Final = "the environment's budget is used up"


def decide(place: Place, jobs: Sequence[PoolJob], seen: Seen, now: datetime) -> Decision:
    """What is to be done about ``place`` at ``now``.

    Asked again of the same, it decides the same: whoever was interrupted looks once more. Only what is written down
    first, a job's new attempt, is not decided twice.
    """
    verdict = judge(place, seen, held(jobs), now)
    leaving = _leaving(seen, held(jobs)) | verdict.give_up
    moved = [advance(job, place, seen.tasks, leaving, seen.stops.get(job.order.job_id), now) for job in jobs]
    holds = held(moved)
    free = free_nodes(seen, holds, verdict.unfit)
    after, starts = _wait(moved) if seen.is_closed else _start(place, moved, free, now)
    given_up, memory = _give_up(verdict.give_up, holds, verdict.memory, now)
    actions: list[Action] = [stop for job in after for stop in to_stop(job)]
    actions += orphans(after, seen.tasks)
    actions += [LetGo(node.instance_id) for node in seen.nodes if _is_drained(node, holds, seen)]
    actions += [*given_up, *starts]
    if not place.keeps_nodes:
        taken = {rank.instance_id for start in starts for rank in (start.job.last.ranks if start.job.last else ())}
        idle = [node for node in free if node.instance_id not in taken]
        actions += _resize(place, after, idle, seen, now)
    before = {job.order.job_id: job for job in jobs}
    changed = tuple(job for job in after if before[job.order.job_id] != job)
    return Decision(changed, tuple(actions), memory, verdict.problems)


def _leaving(seen: Seen, holds: Iterable[str]) -> dict[str, str]:
    members = {node.instance_id for node in seen.nodes}
    ends = {node.instance_id: "its group ends the node" for node in seen.nodes if node.is_leaving}
    return ends | {each: "the node is gone" for each in holds if each not in members}


def _start(
    place: Place, jobs: Iterable[PoolJob], free: Iterable[Node], now: datetime
) -> tuple[list[PoolJob], list[Start]]:
    """Jobs in turn, until one finds too few nodes."""
    left, started = list(free), {}
    after = {job.order.job_id: replace(job, reason="") if job.reason == _CLOSED else job for job in jobs}
    for job in in_turn(after.values()):
        if job.order.nodes > place.nodes:
            reason = f"it wants {job.order.nodes} nodes, and the pool has {place.nodes}"
            after[job.order.job_id] = replace(job, phase=Phase.FAILED, since=now, reason=reason)
            continue
        nodes = gang(job, left)
        if not nodes:
            break
        attempts = (*job.attempts, next_attempt(job, nodes, now))
        begun = replace(job, phase=Phase.STARTING, since=now, reason="", attempts=attempts)
        after[job.order.job_id] = begun
        started[job.order.job_id] = Start(begun)
        left = [node for node in left if node not in nodes]
    return list(after.values()), list(started.values())


def _wait(jobs: Iterable[PoolJob]) -> tuple[list[PoolJob], list[Start]]:
    return [replace(job, reason=_CLOSED) if job.phase is Phase.WAITING else job for job in jobs], []


def _give_up(
    nodes: dict[str, str], holds: Iterable[str], memory: Memory, now: datetime
) -> tuple[list[Replace], Memory]:
    """Those that no job holds any more; the others have been told to end what they hold."""
    ready = [each for each in nodes if each not in set(holds)]
    for each in ready:
        memory = replaced(memory, each, nodes[each], now)
    return [Replace(each, nodes[each]) for each in ready], memory


def _is_drained(node: Node, holds: Iterable[str], seen: Seen) -> bool:
    return node.state == DRAINING and node.instance_id not in set(holds) and not seen.held_by(node)


def _resize(place: Place, jobs: Sequence[PoolJob], idle: Sequence[Node], seen: Seen, now: datetime) -> list[Action]:
    """More nodes at once; fewer only by ending idle ones, for a group that shrinks by itself may end any of them."""
    target = wanted(place, [job for job in jobs if job.phase is not Phase.WAITING] if seen.is_closed else jobs)
    if target > seen.desired:
        return [SetDesired(target)]
    members = sum(1 for node in seen.nodes if not node.is_leaving)
    actions: list[Action] = []
    if seen.desired > max(target, members):
        # Nodes that were asked for and have not come.
        actions.append(SetDesired(max(target, members)))
    tired = [node for node in idle if (now - idle_since(node, seen, jobs)).total_seconds() >= place.idle_seconds]
    surplus = max(0, min(members, seen.desired) - target)
    strays = mixed(jobs, tired) if len(idle) >= members - len(held(jobs)) else []
    return [*actions, *(Release(node.instance_id) for node in (tired[:surplus] or strays))]
