"""What the containers of a pool job are told: the variables that AWS Batch gives those of a multi-node job.

The same names, so that a program, its launcher and the node agent run on a pool as they do on Batch. Source: AWS Batch
user guide, "Job environment variables" and "Multi-node parallel jobs": there, too, only the other nodes are given the
main node's address.
"""

import re
from typing import Any, Final

from fleet.pool.job import PoolJob, Rank

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
