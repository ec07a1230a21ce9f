"""How many nodes an endpoint has, by what saturates them: as plain values, and what of them cannot work.

A node runs one task, which holds its cores, so that nodes are what is scaled. inf2's cores take a batch at a time:
requests wait while they are busy, long before the host's processors are. So what counts is requests in flight for each
core, how long they waited, and how busy the cores are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Of the load that a node is to take, what the others may come to when one of them leaves.
ROOM: Final = 0.9
# So long a load must have been low before a node leaves: as target tracking waits (EC2 Auto Scaling user guide).
QUIET_MINUTES: Final = 15


@dataclass(frozen=True, slots=True)
class Targets:
    """What each node is to have, on average over the nodes. None: it does not count."""

    requests_in_flight_per_core: float | None = None
    queue_seconds: float | None = None
    core_utilization_percent: float | None = None


@dataclass(frozen=True, slots=True)
class Scaling:
    """One endpoint's. ``most`` are the fleet's nodes; times are minutes.

    ``warm_up_minutes``: how long a new node takes until it shares the load; ``cooldown_minutes``: between two nodes
    that leave; ``zero_after_minutes``: without a request, None for an endpoint that always has a node;
    ``kept_stopped``: nodes beside those, which have booted once and wait.
    """

    least: int
    most: int
    targets: Targets
    warm_up_minutes: int = 40
    cooldown_minutes: int = 15
    zero_after_minutes: int | None = None
    kept_stopped: int = 0

    @property
    def reaches_zero(self) -> bool:
        """Whether it may have no node at all."""
        return self.zero_after_minutes is not None


def mistakes(scaling: Scaling) -> Iterator[tuple[str, str, str, str]]:
    """Code, setting, what is wrong, and what would be right: of everything that cannot work."""
    targets = scaling.targets
    if targets == Targets():
        yield "scaling-without-target", "targets", "nothing says when a node is full", "name at least one target"
    elif targets.requests_in_flight_per_core is None and targets.core_utilization_percent is None:
        yield (
            "queue-time-alone",
            "targets",
            "without requests nothing waits and there is no queue time, so no node would ever leave",
            "add requests_in_flight_per_core or core_utilization_percent",
        )
    if scaling.least >= scaling.most:
        yield (
            "scaling-of-nothing",
            "min_nodes",
            f"the fleet has {scaling.most} nodes at most, so there is nothing to scale",
            f"use 0 to {scaling.most - 1}, or remove scaling",
        )
    if (scaling.least == 0) is not scaling.reaches_zero:
        yield (
            "zero-half-said",
            "scale_to_zero_after_minutes",
            f"min_nodes is {scaling.least}: an endpoint without nodes needs both min_nodes: 0 and how long it waits",
            "write both, or neither",
        )
    room = scaling.most - scaling.least
    if 0 < room < scaling.kept_stopped:
        yield (
            "warm-pool-beyond-nodes",
            "warm_pool.nodes",
            f"between min_nodes {scaling.least} and nodes {scaling.most} only {room} can ever come",
            f"use {room} at most, or raise nodes",
        )


def nodes_for(load: float, nodes: int, target: float) -> int:
    """The nodes at which ``load``, an average over ``nodes``, would come to ``target``: what target tracking asks for.

    EC2 Auto Scaling user guide, "Target tracking scaling policies": proportional, and rounded up.
    """
    return math.ceil(round(load * nodes / target, 9))


def may_leave(loads: tuple[tuple[float, float], ...], nodes: int) -> bool:
    """Whether the others would take what is there: ``loads`` are pairs of average and target. One node never may."""
    return max(load / target for load, target in loads) * nodes < ROOM * (nodes - 1)
