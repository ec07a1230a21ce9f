"""What people may ask of a rollout, and when not."""

from dataclasses import replace
from datetime import datetime

from fleet import FleetError
from fleet.rollout.phases import BEFORE_PROMOTION, roll_back
from fleet.rollout.record import Outcome, Phase, Rollout


class RefusedError(FleetError):
    """It cannot be done now; one line for the person who asked."""


def pause(rollout: Rollout, who: str, now: datetime) -> Rollout:
    """Stay at this share; the gates go on."""
    _must_run(rollout, "paused")
    if rollout.phase not in BEFORE_PROMOTION:
        raise RefusedError(f"it is {rollout.phase}, which cannot be paused")
    if rollout.paused_at is not None:
        return rollout
    return replace(rollout, paused_at=now).tell(now, f"paused by {who}")


def resume(rollout: Rollout, who: str, now: datetime) -> Rollout:
    """Go on: after a pause, or to bring the stable side along after all."""
    if rollout.outcome is Outcome.HELD:
        again = rollout.enter(Phase.PROMOTING, now, f"taken up again by {who}")
        return replace(again, outcome=None, reason="")
    _must_run(rollout, "resumed")
    return replace(rollout, paused_at=None).tell(now, f"resumed by {who}")


def abort(rollout: Rollout, who: str, now: datetime) -> Rollout:
    """Back to the old version."""
    if rollout.outcome is Outcome.HELD:
        return roll_back(replace(rollout, outcome=None), now, f"aborted by {who}")
    _must_run(rollout, "aborted")
    if rollout.phase in (Phase.ROLLING_BACK, Phase.RESTORING):
        return rollout
    if rollout.phase is Phase.RETURNING:
        raise RefusedError("the new version serves on the stable side: roll out the old one to go back")
    return roll_back(rollout, now, f"aborted by {who}")


def _must_run(rollout: Rollout, verb: str) -> None:
    if rollout.is_over:
        raise RefusedError(f"rollout {rollout.rollout_id} has ended ({rollout.outcome}) and cannot be {verb}")
