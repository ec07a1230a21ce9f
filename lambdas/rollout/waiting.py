"""A look while AWS is still at what it was told: no failure, and no end. The next look goes on from the same place."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from fleet.rollout.facts import Facts, RolloutPlace
from fleet.rollout.phases import kept_waiting, report
from lambdas.rollout import service
from lambdas.rollout.ports import BusyError, NoRoomError, World


def look(world: World, place: RolloutPlace, rollout_id: str, fence: int, now: datetime) -> dict[str, Any]:
    """``service.look``, or what it waits for. A rollout that has ended is not over before AWS is as it ended.

    Raises:
        NoRoomError: it has ended, and what is paid for stays until somebody raises a quota.
    """
    try:
        return service.look(world, place, rollout_id, fence, now)
    except BusyError as busy:
        waiting = busy
    record = world.store.read(place.fleet)
    if record is None or (record.rollout.rollout_id, record.rollout.fence) != (rollout_id, fence):
        return service.out_of_office(rollout_id, fence)
    if record.rollout.is_over and isinstance(waiting, NoRoomError):
        raise waiting
    stable, candidate = (world.services.of(side) for side in (place.stable, place.candidate))
    facts = Facts(stable, candidate, *world.balancer.weights(place))
    # Somebody looks after it, all the time that this lasts.
    after = kept_waiting(record.rollout, facts, now, str(waiting))
    record = world.store.write(replace(record, rollout=after, looked_at=now))
    return {**report(record.rollout, facts), "is_over": False}
