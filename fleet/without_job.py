"""Whether a node is paid for and has no job: for how long it may wait for its next one, by how it was bought.

AWS Batch ends a node minutes after its last job, and a pool after ``idle_minutes``. So a node of either that has had
no job for half an hour is one that nobody decided to pay for. What is paid in advance costs no more for it.
"""

from collections.abc import Mapping
from typing import Final

from fleet.fleet_spec import MarketKind
from fleet.node_memory import minutes
from fleet.node_state import NodeState, Verdict

# Two jobs in a row lie minutes apart, and a node boots and pulls its image of 15 to 20 GB within a quarter of an hour.
WITHOUT_JOB_MINUTES: Final = 30
# Longer than a queue or a person leaves between two jobs, and short enough for the same working day.
_PREPAID_MINUTES: Final = 120
_BY_MARKET: Final[Mapping[MarketKind, int]] = {
    MarketKind.ON_DEMAND: WITHOUT_JOB_MINUTES,
    MarketKind.SPOT: WITHOUT_JOB_MINUTES,
    MarketKind.RESERVATION: _PREPAID_MINUTES,
    MarketKind.CAPACITY_BLOCK: _PREPAID_MINUTES,
}
# What keeps a node on purpose lets go of it in its next look, and EC2 takes minutes to end it.
_ENDED_WITHIN: Final = 20


def patience_minutes(market: MarketKind, *, kept_minutes: int = 0) -> int:
    """Minutes for which a node bought in ``market`` may have no job, where its owner does not say.

    ``kept_minutes`` is for how long its pool keeps it for the next job.
    """
    return max(_BY_MARKET[market], kept_minutes + _ENDED_WITHIN if kept_minutes else 0)


def is_unused(verdict: Verdict, patience: int) -> bool | None:
    """Whether the node has had no job for more than ``patience`` minutes; None while nobody sees it."""
    if verdict.state is NodeState.BLIND:
        return None
    at, since = verdict.memory.at, verdict.memory.free_since
    return verdict.state is NodeState.NO_JOB and at is not None and minutes(at, since) > patience
