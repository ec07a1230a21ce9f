"""What people ask for: start, status, pause, resume, abort. A command changes the record; the execution does the rest.

Only where no execution looks after the record any more, a new one is started for it.
"""

import re
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from fleet import rollout as rollouts
from fleet.rollout.facts import Facts, RolloutPlace
from fleet.rollout.phases import RefusedError, report
from fleet.rollout.record import Outcome, Rollout, begin, next_minute
from lambdas.rollout.ports import Dependencies
from lambdas.rollout.store import ConflictError, Record

_DIGEST: Final = re.compile(r".+@sha256:[0-9a-f]{64}")
_TRIES: Final = 5
_BUSY: Final = "it changed at this very moment; look at it and try again"


class Action(StrEnum):
    """What can be asked."""

    START = "start"
    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"


class Command(BaseModel):
    """The event of an invocation by a person. ``who`` is what they say of themselves, for the history."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    fleet: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
    rollout_id: Annotated[str, Field(pattern=r"^([a-z0-9][a-z0-9-]{0,40})?$")] = ""
    image: str = ""
    """By its digest. Default: what was deployed last."""
    artifact: str = ""
    """Folder of its compiled graphs in the store, ``neuron-artifacts/<model>/<hash>``. Default: what is declared."""
    without_shadow: bool = False
    """Give it its first requests without a look at recorded ones."""
    who: Annotated[str, Field(max_length=200)] = ""


def run(command: Command, aws: Dependencies, place: RolloutPlace, now: datetime) -> dict[str, Any]:
    """The answer: a report with its ``history``, or ``{"refused": why}``."""
    try:
        if command.action is Action.START:
            return _told(aws, place, _start(command, aws, place, now), True)
        record = _newest(command, aws, place, now)
        # Who has changed it has seen to that; an execution that was started just now may not show yet.
        is_driven = command.action is not Action.STATUS or record.is_settled or _is_driven(aws, record, now)
        return _told(aws, place, record, is_driven)
    except RefusedError as error:
        return {"refused": str(error)}
    except ConflictError:
        return {"refused": _BUSY}


def _newest(command: Command, aws: Dependencies, place: RolloutPlace, now: datetime) -> Record:
    """The record, after what the command changes of it."""
    tries = 0
    while True:
        record = aws.store.read(place.fleet)
        if record is None:
            raise RefusedError(f"fleet {place.fleet} has had no rollout")
        if command.action is Action.STATUS:
            return record
        try:
            return _change(command, aws, record, now)
        except ConflictError:
            # A look was just being stored: who wants back must not have to ask twice.
            tries += 1
            if tries == _TRIES:
                raise


def _start(command: Command, aws: Dependencies, place: RolloutPlace, now: datetime) -> Record:
    before = aws.store.read(place.fleet)
    if before is not None and before.rollout.rollout_id == command.rollout_id:
        # The same command again: its answer was lost, or it came no further than to here.
        if not before.rollout.is_over:
            aws.executions.start(before.rollout)
        return before
    if before is not None:
        _must_be_free(before)
    old, nodes = _stable(aws, place)
    new = _new_version(command, aws, place)
    if new == old:
        raise RefusedError(f"{new.rpartition('/')[2]} serves already: deploy another one first, or give an image")
    rollout = begin(
        Rollout(
            rollout_id=command.rollout_id,
            fleet=place.fleet,
            plan=replace(place.plan, shadow=None) if command.without_shadow else place.plan,
            old_version=old,
            new_version=new,
            nodes=nodes,
            started_at=now,
            started_by=command.who,
            artifact=command.artifact or place.artifact,
            not_before=next_minute(before.rollout) if before else None,
            since=now,
            fence=before.rollout.fence + 1 if before else 1,
        )
    )
    # An endpoint that scales has to be told to stand still, by the first look.
    is_applied = not place.scales
    record = Record(rollout, is_applied=is_applied, looked_at=now, version=before.version if before else 0)
    record = aws.store.write(record)
    # A deployment that comes from now on leaves the stable side at what it runs.
    aws.services.keep(place, old)
    aws.executions.start(rollout)
    return record


def _must_be_free(record: Record) -> None:
    rollout = record.rollout
    if not record.is_settled:
        raise RefusedError(f"rollout {rollout.rollout_id} is under way ({rollout.phase}): one at a time")
    if rollout.outcome is Outcome.HELD:
        raise RefusedError(
            f"rollout {rollout.rollout_id} is held with all requests on the candidate: resume or abort it"
        )


def _stable(aws: Dependencies, place: RolloutPlace) -> tuple[str, int]:
    """What serves, and on how many nodes; a rollout needs one whole side to go back to."""
    weights = aws.balancer.weights(place)
    if weights != (100, 0):
        raise RefusedError(f"the weights are {weights[0]} to {weights[1]} and not 100 to 0: put them right")
    side, healthy = aws.services.of(place.stable), aws.balancer.healthy(place.stable)
    if len(side.versions) != 1 or not side.is_settled:
        raise RefusedError("the stable side does not run one version everywhere: wait until its deployment is through")
    if not healthy:
        why = "the stable side has no healthy target, so there would be nothing to go back to"
        may_sleep = place.scales and place.hosted is None
        raise RefusedError(f"{why}; where it has no node, a request brings one" if may_sleep else why)
    (version,) = side.versions
    return version, healthy


def _new_version(command: Command, aws: Dependencies, place: RolloutPlace) -> str:
    if not command.image:
        return aws.services.newest(place)
    if not _DIGEST.fullmatch(command.image):
        raise RefusedError(
            f"image {command.image}: give it by its digest, name@sha256:…; a tag may move during a rollout"
        )
    return aws.services.register(place, command.image)


def _change(command: Command, aws: Dependencies, record: Record, now: datetime) -> Record:
    rollout, who = record.rollout, command.who or "somebody"
    if command.rollout_id and command.rollout_id != rollout.rollout_id:
        raise RefusedError(f"the newest rollout is {rollout.rollout_id}, not {command.rollout_id}")
    change = {Action.PAUSE: rollouts.pause, Action.RESUME: rollouts.resume, Action.ABORT: rollouts.abort}
    orphaned = rollout.is_over or not _is_driven(aws, record, now)
    # It has ended, and whoever was to let the candidate's nodes go is gone.
    is_half_way = rollout.is_over and not record.is_applied
    changed = rollout if is_half_way else change[command.action](rollout, who, now)
    if orphaned:
        changed = replace(changed, fence=rollout.fence + 1)
    # A command is no look: only where an execution begins anew does the time to its next one.
    looked_at = now if orphaned else record.looked_at
    record = aws.store.write(replace(record, rollout=changed, is_applied=False, looked_at=looked_at))
    if orphaned:
        aws.executions.start(changed)
    return record


def _is_driven(aws: Dependencies, record: Record, now: datetime) -> bool:
    """Whether an execution looks after it. Where one that runs is missed, another takes over, which hurts nobody."""
    return record.is_looked_at(now) and aws.executions.runs(record.rollout)


def _told(aws: Dependencies, place: RolloutPlace, record: Record, is_driven: bool) -> dict[str, Any]:
    rollout = record.rollout
    stable, candidate = aws.balancer.weights(place)
    sides = [replace(aws.services.of(s), healthy=aws.balancer.healthy(s)) for s in (place.stable, place.candidate)]
    facts = Facts(sides[0], sides[1], stable, candidate)
    return {
        **report(rollout, facts),
        "healthy": {"stable": sides[0].healthy, "candidate": sides[1].healthy},
        "is_driven": is_driven,
        "stands_still": place.scales and aws.nodes.stands_still(place.stable),
        "started_at": rollout.started_at.isoformat(),
        "history": [{"at": event.at.isoformat(), "text": event.text} for event in rollout.history],
    }
