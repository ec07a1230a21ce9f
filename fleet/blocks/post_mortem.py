"""What a block was worth: its hours, its utilization, its dollars, and the dollars that bought nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from fleet.blocks.offering import Offering


@dataclass(frozen=True, slots=True)
class NodeMinutes:
    """One node's measured minutes of the block. ``wasted_usd`` is the sum of what each minute wasted.

    ``utilization_percent`` is the mean over the minutes in which it was measured, and None without any.
    """

    node: str
    measured: int
    running: int
    utilization_percent: float | None
    wasted_usd: float


@dataclass(frozen=True, slots=True)
class PostMortem:
    """``unmeasured_usd`` is the price of instance-minutes that no agent reported: not delivered, not booted or blind.

    It is neither useful nor known to be wasted, so it stands beside both. Percent are of instance-minutes, extensions
    included; ``usd_per_instance_hour`` is the mean over the block and its extensions, which have prices of their own.
    """

    fee_usd: float
    usd_per_instance_hour: float
    measured_percent: float
    running_percent: float
    utilization_percent: float | None
    wasted_usd: float
    unmeasured_usd: float


def post_mortem(paid: Sequence[Offering], nodes: Iterable[NodeMinutes]) -> PostMortem:
    """The account of a block: ``paid`` is the offering that it was bought as, and each of its extensions."""
    seen = tuple(nodes)
    minutes = sum(part.instances * (part.duration / timedelta(minutes=1)) for part in paid)
    fee_usd = sum(part.fee_usd for part in paid)
    measured = sum(node.measured for node in seen)
    weighted = [(node.utilization_percent, node.running) for node in seen if node.utilization_percent is not None]
    weight = sum(running for _, running in weighted)
    return PostMortem(
        fee_usd=fee_usd,
        usd_per_instance_hour=60 * fee_usd / minutes,
        measured_percent=100 * measured / minutes,
        running_percent=100 * sum(node.running for node in seen) / minutes,
        utilization_percent=sum(percent * running for percent, running in weighted) / weight if weight else None,
        wasted_usd=sum(node.wasted_usd for node in seen),
        unmeasured_usd=max(0.0, minutes - measured) * fee_usd / minutes,
    )
