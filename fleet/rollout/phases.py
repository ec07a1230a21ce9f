"""What several phases share: the way back, the way into a bake, pauses, and how long a phase has lasted."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from fleet.rollout.facts import Facts
from fleet.rollout.record import Outcome, Phase, Rollout

BEFORE_PROMOTION: Final = frozenset({Phase.ARTIFACT, Phase.PREPARING, Phase.SHADOWING, Phase.BAKING})
"""The stable side is whole: going back is a matter of weights. In each of them a person may pause."""


_ALL: Final = 100


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


def hold(rollout: Rollout, now: datetime, reason: str) -> Rollout:
    """End with all requests on the candidate, where the stable side could not be brought along."""
    held = rollout.enter(Phase.ENDED, now, f"held: {reason}")
    return replace(held, outcome=Outcome.HELD, reason="; ".join(filter(None, (rollout.reason, reason))))


def kept_waiting(rollout: Rollout, facts: Facts, now: datetime, why: str) -> Rollout:
    """What becomes of it while AWS does not take what it wants: it waits, as long as it would for nodes and health.

    Without an end, a candidate would keep its share and be judged by nobody.
    """
    plan, minutes = rollout.plan, minutes_in_phase(rollout, now)
    if rollout.phase in BEFORE_PROMOTION and minutes >= plan.ready_minutes:
        return roll_back(rollout, now, f"{why}, after {plan.ready_minutes:g} minutes")
    is_at_stable = rollout.phase in (Phase.PROMOTING, Phase.RESTORING) and facts.candidate_weight == _ALL
    if is_at_stable and minutes >= plan.promotion_minutes:
        return hold(rollout, now, f"{why}, after {plan.promotion_minutes:g} minutes")
    return rollout.wait(why)


def minutes_in_phase(rollout: Rollout, now: datetime) -> float:
    """How long the phase has lasted."""
    return (now - rollout.since).total_seconds() / 60
