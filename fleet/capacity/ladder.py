"""What to try, in order, when there is no capacity: first the fleet's other zones, then its other types.

For a pool that launches nodes itself. A rung is a whole launch plan, because another type has other network cards and
another zone may not offer it.
"""

from collections.abc import Iterator
from dataclasses import replace

from fleet.capacity.plan import FleetRefusedError, LaunchPlan, compile_fleet
from fleet.fleet_spec import FleetSpec, MarketKind, Purpose


def ladder(spec: FleetSpec) -> tuple[LaunchPlan, ...]:
    """The plans to try, the fleet's own first; a rung that cannot be built is left out.

    A training fleet lies in one zone at a time, so it tries zone by zone; an inference fleet spans its zones, so it
    tries type by type. Reserved capacity has one rung: it is where it is and what it is.

    Raises:
        FleetRefusedError: the fleet itself cannot be built.
    """
    return (compile_fleet(spec), *_rungs(spec))


def other_types(own: LaunchPlan) -> tuple[LaunchPlan, ...]:
    """The plans of the fleet's alternative types in its own zones, after its ``own``."""
    return _rungs(replace(own.spec, fallback_zone_ids=()))


def _rungs(spec: FleetSpec) -> tuple[LaunchPlan, ...]:
    if spec.market in (MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK):
        return ()
    return tuple(filter(None, map(_plan, _further(spec))))


def _further(spec: FleetSpec) -> Iterator[FleetSpec]:
    # Types once each; the fleet's own type has been tried in its own zones.
    for name in dict.fromkeys((spec.instance_type, *spec.alternative_types)):
        # What was agreed on is the price of the fleet's own type.
        price = spec.price if name == spec.instance_type else None
        rung = replace(spec, instance_type=name, alternative_types=(), fallback_zone_ids=(), price=price)
        if spec.purpose is Purpose.INFERENCE:
            zones = [tuple(dict.fromkeys(spec.zone_ids + spec.fallback_zone_ids))]
        else:
            zones = [(zone,) for zone in dict.fromkeys(spec.zone_ids + spec.fallback_zone_ids)]
        yield from (
            replace(rung, zone_ids=zone_ids, availability_zone=None)
            for zone_ids in zones
            if (name, zone_ids) != (spec.instance_type, spec.zone_ids)
        )


def _plan(spec: FleetSpec) -> LaunchPlan | None:
    try:
        return compile_fleet(spec)
    except FleetRefusedError:
        return None
