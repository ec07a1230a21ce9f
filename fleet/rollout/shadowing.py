"""Before the first share: the candidate answers recorded requests, and its tasks' reports are held against the gate."""

from dataclasses import replace
from datetime import datetime

from fleet.rollout.facts import Facts
from fleet.rollout.phases import bake, is_paused, minutes_in_phase, paused, roll_back
from fleet.rollout.record import Phase, Rollout
from fleet.shadow.gate import judge, said


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
