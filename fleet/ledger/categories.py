"""What a paid minute was good for."""

from collections.abc import Mapping
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
    NodeState.DRAINING: Category.DRAINING,
    NodeState.NO_JOB: Category.IDLE,
    NodeState.FAULT: Category.FAULT,
    NodeState.BLIND: Category.UNSEEN,
}
