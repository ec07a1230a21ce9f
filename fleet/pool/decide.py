"""From what was seen of a pool to what is done about it, in this order: jobs, health, starts on free nodes, size."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from fleet.pool.actions import Action, Decision, LetGo, Release, Replace, SetDesired, Start
from fleet.pool.health import judge, replaced
from fleet.pool.job import HOLDS_NODES, Attempt, Phase, PoolJob, Rank
from fleet.pool.observed import DRAINING, Memory, Node, PoolDeployment, Seen
from fleet.pool.progress import advance, held, orphans, to_stop


def in_turn(jobs: Iterable[PoolJob]) -> list[PoolJob]:
    """Those that wait: the highest priority first, and then the oldest. None overtakes, so that large ones start."""
    waiting = [job for job in jobs if job.phase is Phase.WAITING]
    return sorted(waiting, key=lambda job: (-job.order.priority, job.order.created_at, job.order.job_id))


def free_nodes(seen: Seen, held: Collection[str], unfit: Collection[str]) -> list[Node]:
    """Nodes that can take a container now."""
    return [
        node
        for node in seen.nodes
        if node.is_in_service
        and node.takes_tasks
        and node.instance_id not in held
        and node.instance_id not in unfit
        and not seen.held_by(node)
    ]


def gang(job: PoolJob, free: Iterable[Node]) -> list[Node]:
    """As many nodes of one type as ``job`` wants; empty: there are too few. All of a job's nodes are alike."""
    by_type: defaultdict[str, list[Node]] = defaultdict(list)
    for node in sorted(free, key=lambda each: each.instance_id):
        by_type[node.instance_type].append(node)
    # The smallest set that does leaves the larger one to a larger job.
    enough = [nodes for nodes in by_type.values() if len(nodes) >= job.order.nodes]
    return min(enough, key=len)[: job.order.nodes] if enough else []


def next_attempt(job: PoolJob, nodes: Iterable[Node], now: datetime) -> Attempt:
    """The attempt on ``nodes``, whose first one is the main node."""
    ranks = tuple(Rank(i, n.instance_id, n.container_instance, n.address, n.instance_type) for i, n in enumerate(nodes))
    return Attempt(len(job.attempts) + 1, now, ranks)


def wanted(place: PoolDeployment, jobs: Iterable[PoolJob]) -> int:
    """How many nodes the jobs want, as far as the pool may have them: those of jobs that run, and of as many that wait
    as can start in turn.
    """
    jobs = list(jobs)
    nodes = sum(job.order.nodes for job in jobs if job.phase in HOLDS_NODES)
    for job in in_turn(jobs):
        if nodes + job.order.nodes > place.nodes:
            break
        nodes += job.order.nodes
    return min(nodes, place.nodes)


def idle_since(node: Node, seen: Seen, jobs: Iterable[PoolJob]) -> datetime:
    """Since when a free node has held nothing: its launch, or the last end of a container on it."""
    ends = [t.stopped_at for t in seen.tasks if t.container_instance == node.container_instance and t.stopped_at]
    ends += [
        rank.stopped_at
        for job in jobs
        for attempt in job.attempts
        for rank in attempt.ranks
        if rank.instance_id == node.instance_id and rank.stopped_at
    ]
    return max([node.launched_at, *ends])


def mixed(jobs: Iterable[PoolJob], idle: Iterable[Node]) -> list[Node]:
    """Idle nodes that keep the next job waiting: there are enough for it, and of no type enough."""
    nodes = list(idle)
    job = next(iter(in_turn(jobs)), None)
    if job is None or len(nodes) < job.order.nodes or gang(job, nodes):
        return []
    types = [node.instance_type for node in nodes]
    most = max(sorted(set(types)), key=types.count)
    return [node for node in nodes if node.instance_type != most]


_CLOSED: Final = "the environment's budget is used up"


def decide(place: PoolDeployment, jobs: Sequence[PoolJob], seen: Seen, now: datetime) -> Decision:
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
    place: PoolDeployment, jobs: Iterable[PoolJob], free: Iterable[Node], now: datetime
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


def _resize(
    place: PoolDeployment, jobs: Sequence[PoolJob], idle: Sequence[Node], seen: Seen, now: datetime
) -> list[Action]:
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
