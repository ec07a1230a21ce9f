"""What is next, from where a rollout stands and what was seen. Every path ends all-stable or all-candidate."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from fleet.rollout.facts import Facts, Side, p99_in_common
from fleet.rollout.gates import Verdict, judge
from fleet.rollout.phases import (
    BEFORE_PROMOTION,
    bake,
    begin_shadow,
    hold,
    is_paused,
    minutes_in_phase,
    paused,
    roll_back,
    shadowing,
)
from fleet.rollout.record import Outcome, Phase, Rollout, short, wanted


def decide(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    """The rollout as it stands from ``now`` on; the same one where nothing has changed."""
    if rollout.is_over:
        return rollout
    foreign = _foreign_weights(rollout, facts)
    if foreign and rollout.phase in BEFORE_PROMOTION:
        return roll_back(rollout, now, foreign)
    return _NEXT[rollout.phase](rollout, facts, now)


def _foreign_weights(rollout: Rollout, facts: Facts) -> str:
    found, meant = (facts.stable_weight, facts.candidate_weight), wanted(rollout)
    if found == (meant.stable_weight, meant.candidate_weight):
        return ""
    return (
        f"the weights are {found[0]} to {found[1]} and not {meant.stable_weight} to "
        f"{meant.candidate_weight}: somebody else has changed them"
    )


def _artifact(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    if facts.has_artifact or not rollout.artifact:
        said = f"compiled graphs are ready: {rollout.artifact}" if rollout.artifact else "no compiled graphs were named"
        cost = facts.stable.usd_per_million_tokens
        # Until scaling was told to stand still, a node may have left: it would be waited for at the end.
        nodes = rollout.nodes if facts.stable_nodes is None else max(1, min(rollout.nodes, facts.stable_nodes))
        known = replace(rollout, stable_usd_per_million_tokens=cost, nodes=nodes)
        return paused(known, now) if is_paused(rollout) else _prepare(known, now, 0, said)
    missing = f"compiled graphs {rollout.artifact} are not in the store"
    if minutes_in_phase(rollout, now) >= rollout.plan.artifact_minutes:
        return roll_back(rollout, now, f"{missing} after {rollout.plan.artifact_minutes:g} minutes")
    return rollout.wait(missing)


def _prepare(rollout: Rollout, now: datetime, step: int, said: str) -> Rollout:
    nodes = rollout.plan.nodes_at(step, rollout.nodes)
    text = f"{said}; nodes that the candidate needs for {rollout.plan.steps[step]} %: {nodes}"
    return rollout.enter(Phase.PREPARING, now, text, step=step)


def _preparing(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    needed, side = rollout.plan.nodes_at(rollout.step, rollout.nodes), facts.candidate
    if rollout.step:
        # It serves the share of the step before meanwhile.
        breached = _if_breached(rollout, facts, now)
        if breached is not None:
            return breached
    if side.runs(rollout.new_version, needed):
        if is_paused(rollout):
            return paused(rollout, now)
        if rollout.not_before is not None and now < rollout.not_before:
            return rollout.wait(f"until {rollout.not_before:%H:%M} UTC answers may be those of the rollout before")
        is_first = rollout.plan.shadow is not None and not rollout.step
        return begin_shadow(rollout, now) if is_first else bake(rollout, facts, now)
    rollout = replace(rollout, no_nodes=side.no_nodes or rollout.no_nodes)
    lacks = _lacks(rollout, side, needed)
    if minutes_in_phase(rollout, now) >= rollout.plan.ready_minutes:
        return roll_back(rollout, now, f"{lacks}, after {rollout.plan.ready_minutes:g} minutes")
    return rollout.wait(lacks)


def _lacks(rollout: Rollout, side: Side, needed: int) -> str:
    found = [f"{side.healthy} of {needed} targets of the candidate are healthy"]
    if side.versions - {rollout.new_version}:
        found.append("another version runs there still")
    elif not side.is_settled:
        found.append("it is coming")
    return "; ".join([*found, *filter(None, [rollout.no_nodes])])


def _baking(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    breached = _if_breached(rollout, facts, now)
    if breached is not None:
        return breached
    compared = p99_in_common(facts.candidate.minutes, facts.stable.minutes)
    rollout = replace(rollout, stable_p99=compared[1]) if compared else rollout
    if is_paused(rollout):
        return paused(rollout, now)
    return _baked(rollout, facts, now)


def _baked(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    plan, minutes, unknown = rollout.plan, minutes_in_phase(rollout, now), "; ".join(judge(rollout, facts).unknown)
    if minutes < plan.bake_minutes:
        return rollout.wait(f"baked {minutes:.1f} of {plan.bake_minutes:g} minutes")
    if unknown and minutes >= plan.bake_minutes + plan.traffic_minutes:
        return roll_back(rollout, now, f"{unknown}, {plan.traffic_minutes:g} minutes after the bake")
    if unknown:
        return rollout.wait(f"held: {unknown}")
    good = f"{facts.candidate.requests} requests at {rollout.percent} % were good"
    if rollout.step + 1 < len(plan.steps):
        return _prepare(rollout, now, rollout.step + 1, good)
    return rollout.enter(Phase.PROMOTING, now, f"{good}; the stable side gets the new version")


def _if_breached(rollout: Rollout, facts: Facts, now: datetime) -> Rollout | None:
    """What becomes of it where a gate is breached; None where none is."""
    verdict: Verdict = judge(rollout, facts)
    if not verdict.breaches:
        return None
    reason = "; ".join(verdict.breaches)
    if not facts.stable.healthy and facts.candidate.healthy:
        return rollout.wait(f"held: {reason}; and the stable side has no healthy target to go back to")
    return roll_back(rollout, now, reason)


def _promoting(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    if facts.stable.runs(rollout.new_version, _enough(rollout)):
        if _foreign_weights(rollout, facts):
            return rollout.wait(_foreign_weights(rollout, facts))
        said = f"{facts.stable.healthy} targets of the stable side run the new version; all requests go back to it"
        return rollout.enter(Phase.RETURNING, now, said)
    return _or_hold(rollout, facts, now, "the stable side could not be brought to the new version")


def _restoring(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    if facts.stable.runs(rollout.old_version, _enough(rollout)):
        said = "the stable side runs the old version again; all requests go back to it"
        return rollout.enter(Phase.ROLLING_BACK, now, said)
    return _or_hold(rollout, facts, now, "the stable side could not be brought back to the old version")


def _or_hold(rollout: Rollout, facts: Facts, now: datetime, text: str) -> Rollout:
    """Wait for the stable side; when that has lasted too long, end with all requests on the candidate."""
    healthy, needed = facts.stable.healthy, _enough(rollout)
    state = f"it runs {_names(facts.stable)}, and {healthy} targets are healthy where {needed} are needed"
    if minutes_in_phase(rollout, now) < rollout.plan.promotion_minutes or _foreign_weights(rollout, facts):
        return rollout.wait(state)
    return hold(rollout, now, f"{text} within {rollout.plan.promotion_minutes:g} minutes: {state}")


def _returning(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    return _to_the_end(rollout, facts, now, rollout.new_version, Outcome.DONE)


def _rolling_back(rollout: Rollout, facts: Facts, now: datetime) -> Rollout:
    return _to_the_end(rollout, facts, now, rollout.old_version, Outcome.ROLLED_BACK)


def _to_the_end(rollout: Rollout, facts: Facts, now: datetime, version: str, outcome: Outcome) -> Rollout:
    """End when what really serves is what will be reported, and the candidate has given its last answer."""
    foreign = _foreign_weights(rollout, facts)
    if foreign:
        return rollout.wait(foreign)
    if facts.stable.versions != {version}:
        return rollout.wait(f"the stable side runs {_names(facts.stable)} and not {short(version)}")
    if now - rollout.since < timedelta(seconds=rollout.plan.drain_seconds):
        return rollout.wait("the candidate answers what it was asked before")
    ended = rollout.enter(Phase.ENDED, now, f"{outcome}: all requests go to {short(version)} on the stable side")
    return replace(ended, outcome=outcome)


def _enough(rollout: Rollout) -> int:
    # A node that is lost meanwhile must not keep an endpoint on two sides: one in four may be missing.
    return max(1, -(-rollout.nodes * 3 // 4))


def _names(side: Side) -> str:
    return ", ".join(map(short, sorted(side.versions))) or "nothing"


_NEXT: Final[dict[Phase, Callable[[Rollout, Facts, datetime], Rollout]]] = {
    Phase.ARTIFACT: _artifact,
    Phase.PREPARING: _preparing,
    Phase.SHADOWING: shadowing,
    Phase.BAKING: _baking,
    Phase.PROMOTING: _promoting,
    Phase.RETURNING: _returning,
    Phase.RESTORING: _restoring,
    Phase.ROLLING_BACK: _rolling_back,
}
