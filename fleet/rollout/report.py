"""What became of a rollout, and what really serves: the execution's output, and what people are shown."""

from dataclasses import asdict

from fleet.rollout.facts import Facts
from fleet.rollout.record import Outcome, Phase, Rollout
from fleet.shadow.gate import said


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
