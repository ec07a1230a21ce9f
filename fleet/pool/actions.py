"""What is to be done about a pool, as plain values; and what the containers that it starts are told.

They have the variables that AWS Batch gives those of a multi-node job, under the same names, so that a program, its
launcher and the node agent run on a pool as they do on Batch. Source: AWS Batch user guide, "Job environment variables"
and "Multi-node parallel jobs": there, too, only the other nodes are given the main node's address.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from fleet.pool.job import PoolJob, Rank
from fleet.pool.observed import Memory


@dataclass(frozen=True, slots=True)
class SetDesired:
    """Ask the group for so many nodes."""

    nodes: int


@dataclass(frozen=True, slots=True)
class Start:
    """Start the last attempt of ``job`` on the nodes that it names: all of them, or none."""

    job: PoolJob


@dataclass(frozen=True, slots=True)
class StopTask:
    """SIGTERM to one container, and SIGKILL when its time to save is over."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Tell the group that a node is unhealthy: it launches another one."""

    instance_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Release:
    """End a node that nobody wants, and want one less."""

    instance_id: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """A node that is being ended holds nothing any more: the group need not wait."""

    instance_id: str


Action = SetDesired | Start | StopTask | Replace | Release | LetGo


@dataclass(frozen=True, slots=True)
class Decision:
    """``jobs`` are those that changed, to be written down before anything is done; ``problems`` are for people."""

    jobs: tuple[PoolJob, ...]
    actions: tuple[Action, ...]
    memory: Memory
    problems: tuple[str, ...] = ()


CONTAINER: Final = "training"
RANK: Final = "AWS_BATCH_JOB_NODE_INDEX"
_STARTED_BY: Final = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(\d+)")


def started_by(job: PoolJob) -> str:
    """By what a task is known to be of this attempt; ECS takes letters, digits, dashes and slashes, 128 at most."""
    return f"{job.order.job_id}/{len(job.attempts)}"


def told_by(text: str) -> tuple[str, int]:
    """Job and attempt out of what ``started_by`` wrote; ("", 0) for tasks that somebody else started."""
    found = _STARTED_BY.fullmatch(text)
    return (found[1], int(found[2])) if found else ("", 0)


def variables(job: PoolJob, rank: Rank) -> dict[str, str]:
    """The environment of one node's container; what the submission says cannot change the rest."""
    attempt = job.attempts[-1]
    told = dict(job.order.variables) | {
        "AWS_BATCH_JOB_ID": f"{job.order.job_id}#{rank.index}",
        "AWS_BATCH_JOB_ATTEMPT": str(attempt.number),
        RANK: str(rank.index),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        "AWS_BATCH_JOB_NUM_NODES": str(len(attempt.ranks)),
    }
    if rank.index:
        told["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = attempt.ranks[0].address
    return told


def overrides(job: PoolJob, rank: Rank) -> dict[str, Any]:
    """StartTask's overrides for one node."""
    environment = [{"name": name, "value": value} for name, value in variables(job, rank).items()]
    return {"containerOverrides": [{"name": CONTAINER, "command": list(job.order.command), "environment": environment}]}
