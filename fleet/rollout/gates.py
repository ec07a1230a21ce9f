"""What the gates say of the candidate: what is wrong with it, and what is not known yet."""

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.rollout.facts import Facts, p99_in_common
from fleet.rollout.record import Rollout


@dataclass(frozen=True, slots=True)
class Verdict:
    """``breaches`` end the rollout; with something ``unknown`` it goes no further."""

    breaches: tuple[str, ...]
    unknown: tuple[str, ...]


def judge(rollout: Rollout, facts: Facts) -> Verdict:
    """Hold what the candidate did in this bake against the gates of the plan."""
    found = [
        *_versions(rollout, facts),
        *_alarms(rollout, facts),
        *_traffic(rollout, facts),
        *_errors(rollout, facts),
        *_latency(rollout, facts),
        *_runtime(rollout, facts),
        *_cost(rollout, facts),
    ]
    return Verdict(
        tuple(text for is_breach, text in found if is_breach), tuple(text for is_breach, text in found if not is_breach)
    )


def _versions(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    others = facts.candidate.versions - {rollout.new_version}
    if others:
        yield True, f"the candidate side runs {', '.join(sorted(others))}, which nobody rolled out"
    if not facts.candidate.healthy:
        yield True, "no target of the candidate is healthy any more"


def _alarms(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    on = sorted(set(facts.alarms) & set(rollout.plan.gates.alarms))
    if on:
        yield True, f"since the rollout began, {', '.join(on)} went off"


def _traffic(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    if facts.candidate.requests < rollout.plan.min_requests:
        yield False, f"the candidate has answered {facts.candidate.requests} of {rollout.plan.min_requests} requests"


def _errors(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    limit, side = rollout.plan.gates.error_percent, facts.candidate
    if limit is None:
        return
    # Over the limit already if every request that is still to come to the minimum were answered well: three errors of
    # the first three requests are no reason to wait, and one of three is none to go back.
    of = max(side.requests, rollout.plan.min_requests)
    if side.errors > of * limit / 100:
        share = f"{100 * side.errors / side.requests:.1f} %" if side.requests else "all"
        yield True, f"{share} of the candidate's answers were 5xx ({side.errors} of {side.requests}), over {limit:g} %"


def _latency(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    gates = rollout.plan.gates
    if gates.latency_ratio is None or facts.candidate.requests < rollout.plan.min_requests:
        return
    compared = p99_in_common(facts.candidate.minutes, facts.stable.minutes)
    if compared is None and rollout.stable_p99 is not None:
        own = p99_in_common(facts.candidate.minutes, facts.candidate.minutes)
        compared = (own[0], rollout.stable_p99) if own else None
    if compared is None:
        yield False, "there is no minute with a p99 of both sides"
        return
    candidate, stable = compared
    if candidate > stable * gates.latency_ratio + gates.latency_slack_seconds:
        times = f"{candidate / stable:.1f} times as much" if stable else "many times as much"
        text = f"the candidate's p99 is {candidate:.3f} s, the stable side's {stable:.3f} s"
        yield True, f"{text}: {times}, over {gates.latency_ratio:g}"


def _runtime(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    limit, errors = rollout.plan.gates.runtime_errors, facts.candidate.runtime_errors
    if limit is None:
        return
    if errors is None:
        yield False, "the agents on the candidate's nodes have not reported executions"
    elif errors > limit:
        yield True, f"{errors} executions failed on the candidate's cores, over {limit}"


def _cost(rollout: Rollout, facts: Facts) -> Iterator[tuple[bool, str]]:
    limit = rollout.plan.gates.cost_increase_percent
    # A share has its nodes in whole numbers, so only who has all requests shows what a token costs.
    if limit is None or rollout.percent < 100:
        return
    candidate, stable = facts.candidate.usd_per_million_tokens, rollout.stable_usd_per_million_tokens
    if candidate is None or not stable:
        yield False, "dollars for a million tokens were not measured on both sides"
    elif candidate > stable * (1 + limit / 100):
        # Both sides' nodes have one price, whose kind and date are not known here: dollars would stand without them.
        more = 100 * (candidate / stable - 1)
        yield True, f"a million tokens cost {more:.1f} % more than on the stable side, over {limit:g} %"
