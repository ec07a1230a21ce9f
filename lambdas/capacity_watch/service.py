"""What happens at every look: each fleet is seen, put in order and assessed, and none waits for another.

A look repeats what was lost and harms nothing when it comes twice: an event only makes it come sooner.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from fleet import naming
from fleet.instances import Price
from fleet.reserved.assessment import Assessment, assess, nodes_to_keep, vcpus_to_keep
from fleet.reserved.observed import FleetDeployment, Reservation, Seen
from fleet.reserved.reservation_state import Standing, fits, standing

if TYPE_CHECKING:
    from lambdas.capacity_watch.adapters import Dependencies

# Side by side, because AWS may keep one fleet's call waiting until it times out.
_AT_ONCE: Final = 8
# What is paid for, or will be any moment. A block is paid for in advance, and its own engine looks after it.
_BILLED: Final = frozenset({"active", "pending"})


@dataclass(frozen=True, slots=True)
class Look:
    """One fleet at one look. Without ``assessment`` it could not be seen; ``problems`` are one line each."""

    place: FleetDeployment
    reservations: tuple[Reservation, ...] = ()
    assessment: Assessment | None = None
    problems: tuple[str, ...] = ()
    job_cores_apart: float | None = None
    """Points of utilization that some core is behind its own job's median; None where none is far behind."""


def look(
    aws: "Dependencies",
    places: Iterable[FleetDeployment],
    now: datetime,
    prices: Mapping[str, Sequence[Price]] | None = None,
) -> list[Look]:
    """Look at every one of ``places``; ``prices`` are refreshed ones by instance type."""
    known = prices or {}
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return list(pool.map(lambda place: _look_at(aws, place, now, known.get(place.instance_type, ())), places))


def left_behind(aws: "Dependencies", environment: str, places: Iterable[FleetDeployment]) -> tuple[str, ...]:
    """What is billed in ``environment`` and belongs to none of ``places``, which are all of its fleets; one line each.

    The command line deletes no stack that its app no longer has, so a reservation outlives its fleet.
    """
    try:
        made = aws.reservations.made_in(environment)
    except Exception as error:
        return (f"reservations of fleets that are gone: {type(error).__name__}: {error}",)
    fleets = {place.fleet: place for place in places}
    return tuple(
        f"reservation {each.reservation_id} is billed for {each.total} {each.instance_type}, {each.available} of them "
        f"unused, and fleet {fleet or '?'} of {environment} does not reserve them any more: delete stack "
        f"{naming.stack_name(environment, naming.reservation_stack(fleet))}"
        for fleet, each in made
        if each.state in _BILLED and not each.is_block and not _belongs(each, fleets.get(fleet))
    )


def _belongs(reservation: Reservation, place: FleetDeployment | None) -> bool:
    if place is None:
        return False
    reached = place.own_group or place.resource_group
    return reached is not None or place.reservation_id == reservation.reservation_id


def _look_at(aws: "Dependencies", place: FleetDeployment, now: datetime, prices: Sequence[Price]) -> Look:
    try:
        seen = _see(aws, place, now)
    except Exception as error:
        # Whatever it is, the other fleets are looked at.
        return Look(place, problems=(_problem(place, error),))
    # What could be seen is said, whatever becomes of the rest.
    seen, deaf = _heard(aws, place, seen, now)
    apart, unseen = _paced(aws, place, seen, now)
    done = _put_in_order(aws, place, seen, now)
    return Look(place, seen.reservations, assess(place, seen, now, prices), (*deaf, *unseen, *done), apart)


def _heard(aws: "Dependencies", place: FleetDeployment, seen: Seen, now: datetime) -> tuple[Seen, tuple[str, ...]]:
    if not seen.nodes:
        return replace(seen, agents=0), ()
    try:
        return replace(seen, agents=aws.heartbeats.of(place, now)), ()
    except Exception as error:
        return seen, (_problem(place, error),)


def _paced(
    aws: "Dependencies", place: FleetDeployment, seen: Seen, now: datetime
) -> tuple[float | None, tuple[str, ...]]:
    # An endpoint's cores differ with their traffic.
    if not seen.nodes or not place.trains:
        return None, ()
    try:
        return aws.paces.of(place, now), ()
    except Exception as error:
        return None, (_problem(place, error),)


def _put_in_order(aws: "Dependencies", place: FleetDeployment, seen: Seen, now: datetime) -> tuple[str, ...]:
    try:
        # In this order: nodes that are launched before they can find the reservation are paid for beside it.
        if place.own_group:
            aws.reservations.join(place, seen.reservations)
        vcpus = vcpus_to_keep(place, seen, now)
        if vcpus is not None:
            aws.batches.keep(place, vcpus)
        nodes = nodes_to_keep(place, seen, now)
        if nodes is not None:
            aws.groups.keep(place, nodes)
    except Exception as error:
        return (_problem(place, error),)
    return ()


def _see(aws: "Dependencies", place: FleetDeployment, now: datetime) -> Seen:
    waiting = aws.groups.waiting(place) if place.has_warm_pool else frozenset()
    seen = Seen(
        reservations=aws.reservations.of(place) if place.is_reserved else (),
        # One that is being made ready runs, and is no node of the fleet: it has no agent and serves nobody.
        nodes=tuple(node for node in aws.nodes.of(place) if node.instance_id not in waiting),
        batch=aws.batches.of(place) if place.compute_environment else None,
        group=aws.groups.of(place) if place.auto_scaling_group else None,
    )
    if place.reservation_stack is None:
        return seen
    held = sum(r.total for r in seen.reservations if fits(r, place) and standing(r, now) is Standing.USABLE)
    return seen if held >= place.nodes else replace(seen, stack=aws.stacks.of(place))


def _problem(place: FleetDeployment, error: Exception) -> str:
    return f"fleet {place.fleet}: {type(error).__name__}: {error}"
