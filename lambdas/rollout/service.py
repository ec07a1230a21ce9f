"""One look at a rollout: bring AWS to what it wants, see how the candidate does, and decide what is next.

A look may end anywhere, run out of time, or come twice. What is wanted is stored before it is done, and done before
anything else is decided; each change of AWS sets a state and adds nothing, so that the next look makes up for it.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from fleet.rollout.decide import decide
from fleet.rollout.facts import Facts, RolloutPlace
from fleet.rollout.phases import kept_waiting, report
from fleet.rollout.record import Phase, Rollout, wanted
from lambdas.rollout.ports import BusyError, Dependencies, NoRoomError, NotAppliedError
from lambdas.rollout.store import Record

# Not an end of the rollout: another execution looks after it.
SUPERSEDED: Final = "superseded"
_SERVING: Final = (Phase.PREPARING, Phase.BAKING)
_AS_EVER: Final = timedelta(minutes=15)


def look(aws: Dependencies, place: RolloutPlace, rollout_id: str, fence: int, now: datetime) -> dict[str, Any]:
    """One step, or what it waits for. A rollout that has ended is not over before AWS is as it ended.

    Raises:
        NoRoomError: it has ended, and what is paid for stays until somebody raises a quota.
    """
    try:
        return step(aws, place, rollout_id, fence, now)
    except BusyError as busy:
        waiting = busy
    record = aws.store.read(place.fleet)
    if record is None or (record.rollout.rollout_id, record.rollout.fence) != (rollout_id, fence):
        return superseded(rollout_id, fence)
    if record.rollout.is_over and isinstance(waiting, NoRoomError):
        raise waiting
    stable, candidate = (aws.services.of(side) for side in (place.stable, place.candidate))
    facts = Facts(stable, candidate, *aws.balancer.weights(place))
    # Somebody looks after it, all the time that this lasts.
    after = kept_waiting(record.rollout, facts, now, str(waiting))
    record = aws.store.write(replace(record, rollout=after, looked_at=now))
    return {**report(record.rollout, facts), "is_over": False}


def step(aws: Dependencies, place: RolloutPlace, rollout_id: str, fence: int, now: datetime) -> dict[str, Any]:
    """Drive the rollout one step; the answer is its report.

    Raises:
        ConflictError: a command came in between; look again.
        NotAppliedError: AWS does not show yet what it was told.
    """
    record = aws.store.read(place.fleet)
    if record is None or (record.rollout.rollout_id, record.rollout.fence) != (rollout_id, fence):
        return superseded(rollout_id, fence)
    if not record.is_applied:
        record = _apply(aws, place, record, now)
    facts = observe(aws, place, record.rollout, now)
    after = decide(record.rollout, facts, now)
    # Stored first: from here on an execution with an older fence, and a command for an older state, come too late.
    record = aws.store.write(replace(record, rollout=after, is_applied=False, looked_at=now))
    record = _apply(aws, place, record, now)
    stable, candidate = aws.balancer.weights(place)
    output = report(record.rollout, replace(facts, stable_weight=stable, candidate_weight=candidate))
    return {**output, "stands_still": place.scales and not wanted(record.rollout).scales}


def observe(aws: Dependencies, place: RolloutPlace, rollout: Rollout, now: datetime) -> Facts:
    """Everything that is decided by."""
    stable_weight, candidate_weight = aws.balancer.weights(place)
    seen = {}
    for side in (place.stable, place.candidate):
        found = replace(aws.services.of(side), healthy=aws.balancer.healthy(side))
        if not rollout.is_over:
            tasks = aws.services.tasks(side)
            found = aws.measured.add_to(found, place, side, tasks, (_since(rollout, now), now))
        seen[side.service] = found
    candidate = seen[place.candidate.service]
    if rollout.phase is Phase.PREPARING and not rollout.is_over:
        candidate = replace(candidate, no_nodes=aws.nodes.lacking(place.candidate))
    waits = rollout.phase is Phase.ARTIFACT and rollout.artifact
    shadows = rollout.phase is Phase.SHADOWING
    tasks = aws.services.tasks(place.candidate) if shadows else ()
    return Facts(
        stable=seen[place.stable.service],
        candidate=candidate,
        stable_weight=stable_weight,
        candidate_weight=candidate_weight,
        alarms=aws.measured.alarms(place, rollout.started_at) if rollout.phase in _SERVING else (),
        has_artifact=aws.artifacts.has(rollout.artifact) if waits else None,
        shadow=aws.reports.of(place, rollout.new_version, tasks) if shadows else (),
        stable_nodes=aws.nodes.wanted(place.stable) if place.scales and rollout.phase is Phase.ARTIFACT else None,
    )


def _since(rollout: Rollout, now: datetime) -> datetime:
    # Before the candidate has requests, what is asked for is what a token costs on the stable side as ever.
    return now - _AS_EVER if rollout.phase is Phase.ARTIFACT else rollout.since


def _apply(aws: Dependencies, place: RolloutPlace, record: Record, now: datetime) -> Record:
    """Make true what the rollout wants; each part is changed only where it differs."""
    meant = wanted(record.rollout)
    # Not on the way back, which names no version: a side that somebody has taken away can be given no requests.
    if meant.candidate_version and aws.services.target(place.candidate) != meant.candidate_version:
        aws.services.run(place.candidate, meant.candidate_version)
    # First on the way back, which depends on it: nothing else that AWS refuses may keep requests where they fail.
    _share(aws, place, (meant.stable_weight, meant.candidate_weight))
    if place.scales and not meant.scales:
        # With fewer requests it would let nodes go that all of them may have to go back to.
        aws.nodes.let_scale(place.stable, False)
    if meant.stable_version:
        _run(aws, place, meant.stable_version)
    if meant.candidate_nodes is not None:
        aws.nodes.ask_for(place.candidate, meant.candidate_nodes)
    if place.scales and meant.scales:
        aws.nodes.let_scale(place.stable, True)
    return aws.store.write(replace(record, is_applied=True, looked_at=now))


def _share(aws: Dependencies, place: RolloutPlace, shares: tuple[int, int]) -> None:
    if aws.balancer.weights(place) == shares:
        return
    aws.balancer.set_weights(place, shares[1])
    found = aws.balancer.weights(place)
    if found != shares:
        raise NotAppliedError(f"the weights were set to {shares} and show as {found}")


def _run(aws: Dependencies, place: RolloutPlace, version: str) -> None:
    if aws.services.target(place.stable) != version:
        # First what deployments read: one that comes right now must not put the other version back.
        aws.services.keep(place, version)
        aws.services.run(place.stable, version)


def superseded(rollout_id: str, fence: int) -> dict[str, Any]:
    """The answer to an execution that another one has taken the place of."""
    reason = "another execution looks after this endpoint"
    return {"rollout_id": rollout_id, "fence": fence, "is_over": True, "outcome": SUPERSEDED, "reason": reason}
