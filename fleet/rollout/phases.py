"""What several phases share: the way back, the way into a bake, pauses, how long a phase has lasted, what is reported.

And the first of them: before its first share the candidate answers recorded requests, and its tasks' reports are held
against the gate. And what people may ask for in each, and when not.
"""

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Final

from fleet import FleetError
from fleet.rollout.facts import Facts
from fleet.rollout.record import Outcome, Phase, Rollout
from fleet.shadow.gate import judge, said

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


def serving(facts: Facts) -> tuple[str, ...]:
    """The versions that answer requests now, by the weights and by what runs on either side."""
    found: set[str] = set()
    if facts.stable_weight:
        found |= facts.stable.versions
    if facts.candidate_weight:
        found |= facts.candidate.versions
    return tuple(sorted(found))


def report(rollout: Rollout, facts: Facts) -> dict[str, object]:
    """As JSON. ``is_true`` says that what is reported is what was seen to serve."""
    return {
        "rollout_id": rollout.rollout_id,
        "fleet": rollout.fleet,
        "phase": rollout.phase.value,
        "step": rollout.percent,
        "is_over": rollout.is_over,
        "is_paused": rollout.paused_at is not None,
        "outcome": rollout.outcome.value if rollout.outcome else None,
        "reason": rollout.reason,
        "waits_for": rollout.note,
        "weights": {"stable": facts.stable_weight, "candidate": facts.candidate_weight},
        "serves": list(serving(facts)),
        "is_true": not rollout.is_over or serving(facts) == (reported(rollout),),
        "old_version": rollout.old_version,
        "new_version": rollout.new_version,
        "look_seconds": look_again(rollout),
        "fence": rollout.fence,
        "shadow": [{**asdict(each), "said": said(each)} for each in rollout.shadow],
    }


def look_again(rollout: Rollout) -> int:
    """Seconds to the next look. Soon while something is judged: an execution has 25,000 events, some 2,700 looks."""
    if rollout.paused_at is not None:
        return 4 * rollout.plan.look_seconds
    return rollout.plan.look_seconds if rollout.phase is Phase.BAKING else 2 * rollout.plan.look_seconds


def reported(rollout: Rollout) -> str:
    """The version that a rollout that has ended says to serve."""
    return rollout.old_version if rollout.outcome is Outcome.ROLLED_BACK else rollout.new_version


def begin_shadow(rollout: Rollout, now: datetime) -> Rollout:
    """Its first nodes are healthy, and nobody's request goes there yet."""
    return rollout.enter(Phase.SHADOWING, now, "the candidate is healthy, and answers recorded requests first")


def shadowing(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    """Back on a breach, or when reports are missing for too long; else on to the first share."""
    gate = rollout.plan.shadow
    if gate is None:
        return bake(rollout, facts, now)
    written = tuple(each for each in facts.shadow if each is not None)
    rollout = replace(rollout, shadow=written or rollout.shadow)
    found = judge(gate, facts.shadow)
    breaches = "; ".join(text for is_breach, text in found if is_breach)
    if breaches:
        return roll_back(rollout, now, breaches)
    unknown = [text for _, text in found]
    needed = rollout.plan.nodes_at(rollout.step, rollout.nodes)
    if not facts.candidate.runs(rollout.new_version, needed):
        unknown.append(f"{facts.candidate.healthy} of {needed} targets of the candidate are healthy")
    if is_paused(rollout):
        return paused(rollout, now)
    if unknown and minutes_in_phase(rollout, now) >= gate.minutes:
        return roll_back(rollout, now, f"{'; '.join(unknown)}, after {gate.minutes:g} minutes")
    if unknown:
        return rollout.wait(f"held: {'; '.join(unknown)}")
    return bake(rollout.tell(now, "; ".join(map(said, written))), facts, now)


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
