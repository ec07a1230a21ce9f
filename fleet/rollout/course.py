"""What several phases share: the way back, the way into a bake, pauses, and how long a phase has lasted."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from fleet.rollout.facts import Facts
from fleet.rollout.record import Phase, Rollout

BEFORE_PROMOTION: Final = frozenset({Phase.ARTIFACT, Phase.PREPARING, Phase.SHADOWING, Phase.BAKING})
"""The stable side is whole: going back is a matter of weights. In each of them a person may pause."""


def roll_back(rollout: Rollout, now: datetime, reason: str) -> Rollout:
    """All requests to the stable side, in one step; where that has the new version by now, once it has the old one."""
    phase = Phase.ROLLING_BACK if rollout.phase in BEFORE_PROMOTION else Phase.RESTORING
    verb = "rolling back" if phase is Phase.ROLLING_BACK else "bringing the old version back before requests go there"
    return replace(rollout.enter(phase, now, f"{verb}: {reason}"), reason=reason, paused_at=None)


def bake(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    """Give the candidate the share of this step."""
    said = f"healthy targets: {facts.candidate.healthy}; {rollout.percent} % of the requests go to the candidate"
    return rollout.enter(Phase.BAKING, now, said)


def is_paused(rollout: Rollout) -> bool:
    """Whether a person has paused it."""
    return rollout.paused_at is not None


def paused(rollout: Rollout, now: datetime) -> Rollout:
    """It waits for that person, but not for ever."""
    since = rollout.paused_at or now
    if now - since >= timedelta(hours=rollout.plan.pause_hours):
        return roll_back(rollout, now, f"it was paused for {rollout.plan.pause_hours:g} hours")
    return rollout.wait("paused")


def minutes_in_phase(rollout: Rollout, now: datetime) -> float:
    """How long the phase has lasted."""
    return (now - rollout.since).total_seconds() / 60
