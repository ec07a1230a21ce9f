"""One look at every pool that an event is about: see, decide, write down, act."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fleet.pool.actions import Action, LetGo, Release, Replace, SetDesired, Start, StopTask
from fleet.pool.decide import decide
from fleet.pool.observed import PoolDeployment, Seen
from lambdas.pool.cluster import EcsCluster
from lambdas.pool.group import ScalingGroup
from lambdas.pool.job_table import BusyError, JobTable

# Side by side, because AWS may keep one pool's call waiting until it times out.
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Dependencies:
    """All of AWS that pools are made of. Each call may raise what botocore raises, and LookupError."""

    jobs: JobTable
    group: ScalingGroup
    cluster: EcsCluster


@dataclass(frozen=True, slots=True)
class Look:
    """One pool at one look: what was done, and what could not be, one line each."""

    place: PoolDeployment
    done: tuple[Action, ...] = ()
    problems: tuple[str, ...] = ()
    is_skipped: bool = False
    """Whether somebody else looked at it at that moment."""


def look(aws: Dependencies, places: Iterable[PoolDeployment], now: datetime) -> list[Look]:
    """Look at every one of ``places``."""
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as workers:
        return list(workers.map(lambda place: _look_at(aws, place, now), places))


def _look_at(aws: Dependencies, place: PoolDeployment, now: datetime) -> Look:
    try:
        with aws.jobs.turn(place.fleet, now):
            return _act(aws, place, now)
    except BusyError:
        return Look(place, is_skipped=True)
    except Exception as error:
        # Whatever it is, the other pools are looked at.
        return Look(place, problems=(_problem(place, "look", error),))


def _act(aws: Dependencies, place: PoolDeployment, now: datetime) -> Look:
    stored = aws.jobs.read(place.fleet)
    desired, members = aws.group.of(place)
    nodes = aws.cluster.joined(place, members)
    tasks = aws.cluster.tasks(place)
    seen = Seen(desired, nodes, tasks, stored.faults, stored.memory, stored.stops, stored.is_closed)
    decision = decide(place, stored.jobs, seen, now)
    # First: a start that nobody knows of would be started again.
    for job in decision.jobs:
        aws.jobs.write(job)
    aws.jobs.remember(place.fleet, decision.memory)
    problems = list(decision.problems)
    done: list[Action] = []
    for action in decision.actions:
        try:
            problems += _do(aws, place, action)
            done.append(action)
        except Exception as error:
            # The next look decides the same again.
            problems.append(_problem(place, type(action).__name__, error))
    return Look(place, tuple(done), tuple(problems))


def _do(aws: Dependencies, place: PoolDeployment, action: Action) -> tuple[str, ...]:
    match action:
        case Start():
            return aws.cluster.start(place, action)
        case StopTask():
            aws.cluster.stop(place, action)
        case SetDesired(nodes):
            aws.group.set_desired(place, nodes)
        case Replace(instance_id, _):
            aws.group.replace(instance_id)
        case Release(instance_id):
            aws.group.release(instance_id)
        case LetGo(instance_id):
            aws.group.let_go(place, instance_id)
    return ()


def _problem(place: PoolDeployment, what: str, error: Exception) -> str:
    return f"fleet {place.fleet}: {what}: {type(error).__name__}: {error}"
