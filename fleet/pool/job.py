"""A job on a pool: what was asked for, how it stands, what became of each attempt, and how its table keeps it.

Times are UTC. DynamoDB takes 400 KB for an item (its developer guide, "Quotas"), and an item that is too large cannot
be written any more: its job would stay as it is, and the nodes with it. A start of one container is half a kilobyte of
JSON, and 66 bytes of it compressed.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fleet.string_enum import StringEnum


class Phase(StringEnum):
    """WAITING for nodes; STARTING: its containers are on their way; STOPPING: those that run save and end."""

    WAITING = "WAITING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


OVER = frozenset({Phase.SUCCEEDED, Phase.FAILED})
HOLDS_NODES = frozenset({Phase.STARTING, Phase.RUNNING, Phase.STOPPING})


@dataclass(frozen=True, slots=True)
class Rank:
    """One node of an attempt. ``stop_code`` is ECS's word for why its container ended, empty while it runs."""

    index: int
    instance_id: str
    container_instance: str
    address: str
    instance_type: str
    task: str = ""
    """ARN of its task; empty until ECS shows it."""
    started_at: datetime | None = None
    stopped_at: datetime | None = None
    exit_code: int | None = None
    stop_code: str = ""
    reason: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its container has ended, or will never run."""
        return self.stopped_at is not None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start on all nodes at once; the first is number 1, as AWS Batch counts."""

    number: int
    begun_at: datetime
    ranks: tuple[Rank, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs."""
        return all(rank.is_over for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Order:
    """What was submitted, and does not change."""

    job_id: str
    name: str
    job: str
    """Its name in the job file."""
    fleet: str
    owner: str
    nodes: int
    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    created_at: datetime
    timeout_seconds: int
    """Of each attempt."""
    attempts: int
    """How often it is started, at most."""
    priority: int = 1
    tokens_wanted: float | None = None
    checkpoint: str = ""
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PoolJob:
    """An order and how it stands, since ``since``."""

    order: Order
    phase: Phase
    since: datetime
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    fails_with: str = ""
    """While STOPPING: why it will not be started again. Empty: what its containers ended with decides."""

    @property
    def is_over(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self.phase in OVER

    @property
    def last(self) -> Attempt | None:
        """The attempt that runs, or ran last."""
        return self.attempts[-1] if self.attempts else None


def submitted(order: Order) -> PoolJob:
    """The job as it is when nobody has looked at it yet."""
    return PoolJob(order, Phase.WAITING, order.created_at)


# Below it an item can be read in the console.
_READABLE_BYTES: Final = 32 * 1024
MOST_STARTS: Final = 4000
"""Containers that a pool's job may start in all of its attempts: 345 KB, with something to spare."""


def packed(json: bytes) -> dict[str, Any]:
    """The attribute that holds ``json``, UTF-8."""
    return {"S": json.decode()} if len(json) <= _READABLE_BYTES else {"B": zlib.compress(json, 9)}


def unpacked(attribute: Mapping[str, Any]) -> bytes:
    """The JSON out of what ``packed`` made; raises ValueError."""
    if "S" in attribute:
        return str(attribute["S"]).encode()
    try:
        return zlib.decompress(attribute["B"])
    except (KeyError, TypeError, zlib.error) as error:
        raise ValueError(f"a job's body cannot be unpacked: {error}") from error
