"""What a block was worth: its hours, its utilization, its dollars, and the dollars that bought nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from fleet.blocks.offering import Offering


@dataclass(frozen=True, slots=True)
class NodeMinutes:
    """One node's measured minutes of the block. ``wasted_usd`` is the sum of what each minute wasted.

    Agents count by the published price, and ``counted_usd`` is what they count for all of the minutes: 0 where they
    know none. ``utilization_percent`` is the mean over the minutes in which it was measured, and None without any.
    """

    node: str
    measured: int
    running: int
    utilization_percent: float | None
    wasted_usd: float
    counted_usd: float


@dataclass(frozen=True, slots=True)
class PostMortem:
    """``wasted_usd`` is the wasted share of the measured minutes at the price that was paid for them, so that it can be
    held against the fee; at the agents' price where no fee is known, and None where they know none either.

    ``unmeasured_usd`` is the price of instance-minutes that no agent reported: not delivered, not booted or blind.

    It is neither useful nor known to be wasted, so it stands beside both. Percent are of instance-minutes, extensions
    included; ``usd_per_instance_hour`` is the mean over the block and its extensions, which have prices of their own.
    """

    fee_usd: float
    usd_per_instance_hour: float
    measured_percent: float
    running_percent: float
    utilization_percent: float | None
    wasted_usd: float | None
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
        wasted_usd=_wasted_usd(seen, fee_usd * measured / minutes),
        unmeasured_usd=max(0.0, minutes - measured) * fee_usd / minutes,
    )


def _wasted_usd(seen: Sequence[NodeMinutes], paid_usd: float) -> float | None:
    """``paid_usd`` is the part of the fee that the measured minutes cost; 0 where no fee is known."""
    if not seen:
        return 0.0
    counted = sum(node.counted_usd for node in seen)
    if not counted:
        return None
    return sum(node.wasted_usd for node in seen) * (paid_usd / counted if paid_usd else 1.0)
