"""Dollars: what an hour of a node buys, and how much of it is wasted."""

from collections.abc import Sequence
from typing import Final

from fleet.node_state import NodeState

# Where the tools report no FLOP/s, busy time takes their place. A core that trains well is busy nearly always, so
# the bar is higher than for the tensor engine: a busy core has been captured at 38 % of its peak.
CORE_UTILIZATION_TARGET_PERCENT: Final = 70.0
# USD are split in whole millionths, so that parts add up without a rest.
_MILLIONTHS: Final = 1_000_000


def split_usd(usd: float, weights: Sequence[float]) -> tuple[float, ...]:
    """``usd`` in parts that go by ``weights`` and add up to it, to the millionth of a dollar.

    A node is paid for whole, so what nobody holds of it is paid for by those who hold the rest. Without any weight
    the parts are equal. The largest remainders get the millionths that are left over.
    """
    if len(weights) < 2:
        return (usd,) * len(weights)
    return tuple(part / _MILLIONTHS for part in split_whole(round(usd * _MILLIONTHS), weights))


def split_whole(total: int, weights: Sequence[float]) -> tuple[int, ...]:
    """``total`` in whole parts that go by ``weights`` and add up to it; the rest as in ``split_usd``."""
    weight_of_all = sum(weights)
    shares = [weight / weight_of_all if weight_of_all > 0 else 1 / len(weights) for weight in weights]
    exact = [total * share for share in shares]
    parts = [int(part) for part in exact]
    by_remainder = sorted(range(len(parts)), key=lambda index: (parts[index] - exact[index], index))
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return tuple(parts)


def wasted_usd_per_hour(
    usd_per_hour: float,
    state: NodeState,
    *,
    tensor_engine_percent: float | None,
    core_percent: float | None,
    target_percent: float,
) -> float | None:
    """USD an hour that buy no useful work, or None where that cannot be said.

    RUNNING: the share by which utilization misses its target, price x max(0, 1 - utilization / target). Tensor-engine
    utilization against ``target_percent`` where it was measured, else core utilization against
    ``CORE_UTILIZATION_TARGET_PERCENT``. Both are means over allocated cores: cores that nobody holds show in
    CoresTotal - CoresAllocated, not here. NO_JOB and WAITING: the whole price. FAULT: the whole price too, because work
    on damaged hardware has to be done again. In every other state the node is excused or unseen.
    """
    if state in {NodeState.NO_JOB, NodeState.FAULT, NodeState.WAITING}:
        return usd_per_hour
    if state is not NodeState.RUNNING:
        return None
    if tensor_engine_percent is not None:
        return usd_per_hour * max(0.0, 1 - tensor_engine_percent / target_percent)
    if core_percent is not None:
        return usd_per_hour * max(0.0, 1 - core_percent / CORE_UTILIZATION_TARGET_PERCENT)
    return None
