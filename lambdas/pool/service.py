"""One look at every pool that an event is about: see, decide, write down, act."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fleet.pool.actions import Action, LetGo, Release, Replace, SetDesired, Start, StopTask
from fleet.pool.decide import decide
from fleet.pool.observed import Place, Seen
from lambdas.pool.ports import BusyError, World

# Side by side, because AWS may keep one pool's call waiting until it times out.
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Look:
    """One pool at one look: what was done, and what could not be, one line each."""

    place: Place
    done: tuple[Action, ...] = ()
    problems: tuple[str, ...] = ()
    is_skipped: bool = False
    """Whether somebody else looked at it at that moment."""


def look(world: World, places: Iterable[Place], now: datetime) -> list[Look]:
    """Look at every one of ``places``."""
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as workers:
        return list(workers.map(lambda place: _look_at(world, place, now), places))


def _look_at(world: World, place: Place, now: datetime) -> Look:
    try:
        with world.book.turn(place.fleet, now):
            return _act(world, place, now)
    except BusyError:
        return Look(place, is_skipped=True)
    except Exception as error:
        # Whatever it is, the other pools are looked at.
        return Look(place, problems=(_problem(place, "look", error),))


def _act(world: World, place: Place, now: datetime) -> Look:
    stored = world.book.read(place.fleet)
    desired, members = world.group.of(place)
    nodes = world.cluster.joined(place, members)
    tasks = world.cluster.tasks(place)
    seen = Seen(desired, nodes, tasks, stored.faults, stored.memory, stored.stops, stored.is_closed)
    decision = decide(place, stored.jobs, seen, now)
    # First: a start that nobody knows of would be started again.
    for job in decision.jobs:
        world.book.write(job)
    world.book.remember(place.fleet, decision.memory)
    problems = list(decision.problems)
    done: list[Action] = []
    for action in decision.actions:
        try:
            problems += _do(world, place, action)
            done.append(action)
        except Exception as error:
            # The next look decides the same again.
            problems.append(_problem(place, type(action).__name__, error))
    return Look(place, tuple(done), tuple(problems))


def _do(world: World, place: Place, action: Action) -> tuple[str, ...]:
    match action:
        case Start():
            return world.cluster.start(place, action)
        case StopTask():
            world.cluster.stop(place, action)
        case SetDesired(nodes):
            world.group.set_desired(place, nodes)
        case Replace(instance_id, _):
            world.group.replace(instance_id)
        case Release(instance_id):
            world.group.release(instance_id)
        case LetGo(instance_id):
            world.group.let_go(place, instance_id)
    return ()


def _problem(place: Place, what: str, error: Exception) -> str:
    return f"fleet {place.fleet}: {what}: {type(error).__name__}: {error}"
