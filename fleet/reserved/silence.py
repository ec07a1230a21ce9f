"""Nodes that EC2 shows and no agent speaks for: one among many, which no metric of the agents themselves can show."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median_low
from typing import Final

from fleet.reserved.observed import Node

# A node that boots, is checked and loads its image is silent too, for less than this.
SETTLED_AFTER: Final = timedelta(minutes=20)
HEARD_MINUTES: Final = 5


def agents_heard(heartbeats: Sequence[float]) -> int:
    """How many agents spoke, by the heartbeats of ``HEARD_MINUTES`` minutes; a minute without any is not in it.

    The median: a batch that was sent twice counts twice in its minute, and one that is late does not count yet.
    """
    whole = [*map(int, heartbeats), *[0] * (HEARD_MINUTES - len(heartbeats))]
    return median_low(whole)


def silent_nodes(nodes: Sequence[Node], heard: int, now: datetime) -> int:
    """How many of ``nodes`` should speak and do not. Which of them, the nodes' events show."""
    settled = sum(now - node.launched_at >= SETTLED_AFTER for node in nodes)
    return max(0, settled - heard)
