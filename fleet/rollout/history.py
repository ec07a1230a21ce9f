"""How long an execution that drives a rollout may become: Step Functions ends one whose history is full."""

from typing import Final

from fleet.limits import LIMITS
from fleet.rollout.plan import Plan

EVENTS_OF_A_LOOK: Final = 9
"""A task has five events, a choice and a wait two each. A test holds it against the definition that is deployed."""
# For looks that fail and are tried again, each with three events more, and for the few at the start and the end.
SPARE: Final = 1_000
MOST_EVENTS: Final = LIMITS["rollout-outlives-its-execution"].most - SPARE


def most_events(plan: Plan) -> float:
    """Events where every phase lasts as long as it may, a person pauses once, and the way back is as long as the way.

    Looks are as far apart as ``report.look_again`` has them.
    """
    baking = len(plan.steps) * (plan.bake_minutes + plan.traffic_minutes)
    others = plan.artifact_minutes + len(plan.steps) * plan.ready_minutes + 2 * plan.promotion_minutes
    others += plan.drain_seconds / 60 + (plan.shadow.minutes if plan.shadow else 0)
    looks = (baking + others / 2 + plan.pause_hours * 60 / 4) * 60 / plan.look_seconds
    return looks * EVENTS_OF_A_LOOK
