"""Which nodes a job gets, and how many nodes a pool asks for."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime

from fleet.pool.job import HOLDS_NODES, Attempt, Phase, PoolJob, Rank
from fleet.pool.observed import Node, Place, Seen


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


def wanted(place: Place, jobs: Iterable[PoolJob]) -> int:
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
