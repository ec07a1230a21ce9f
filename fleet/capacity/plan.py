"""From what somebody asks for to what EC2 must be told: network interfaces, market, reservation, placement.

A pool launches nodes itself. What it tries, in order, when there is no capacity is a ladder: first the fleet's other
zones, then its other types. A rung is a whole launch plan, because another type has other network cards and
another zone may not offer it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from fleet import FleetError
from fleet.capacity.network_interfaces import PLAIN, NetworkInterface, network_interfaces, uses_efa
from fleet.capacity.rules import diagnose_fleet
from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import Engine, FleetSpec, MarketKind, Purpose
from fleet.instances import InstanceType, Price, instance_type
from fleet.prices import price_of
from fleet.regions import offering_zones


class FleetRefusedError(FleetError, ValueError):
    """A fleet that cannot be built; ``diagnostics`` say why, one line each."""

    def __init__(self, fleet: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Keep the errors among ``diagnostics``."""
        self.diagnostics = tuple(diagnostic for diagnostic in diagnostics if diagnostic.is_error)
        super().__init__("\n".join(f"fleet {fleet}: {diagnostic}" for diagnostic in self.diagnostics))


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What a launch template, a placement group and a reservation are made from."""

    spec: FleetSpec
    """What was asked for; no reader of a plan needs the fleet's own entry for it."""
    instance_type: InstanceType
    network_interfaces: tuple[NetworkInterface, ...]
    market_type: str | None
    """EC2's MarketType: capacity-block, spot, or None for on-demand and reservations of it."""
    reservation_id: str | None
    """An existing reservation to launch into."""
    reservation_group: str | None
    """ARN of a resource group of reservations to launch into."""
    creates_reservation: bool
    """Whether instances are reserved for the nodes here. The reservation comes after everything else and may fail, so
    nodes are launched into a group of the fleet's own that it joins once it is there, and not into it by its id."""
    reserved_instances: int
    """Instances of the reservation that is created; 0 where none is."""
    placement_group: bool
    """Whether a cluster placement group is created for the nodes, and for the reservation that is created."""
    placement_group_name: str | None
    """An existing placement group to launch into."""
    uses_efa: bool
    has_peers: bool
    """Whether nodes talk to each other: their security group must allow all traffic from and to itself."""
    zone_ids: tuple[str, ...]
    """The zones, by id, of those asked for that offer the type."""
    price: Price | None
    notes: tuple[Diagnostic, ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are at most."""
        return self.spec.nodes

    @property
    def market(self) -> MarketKind:
        """How they are bought; ``market_type`` is what EC2 is told of it."""
        return self.spec.market

    @property
    def is_reserved(self) -> bool:
        """Whether its nodes are paid for whether they run or not."""
        return self.market in (MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK)

    @property
    def max_vcpus(self) -> int:
        """Of all nodes together: AWS Batch counts capacity in these."""
        return self.nodes * self.instance_type.vcpus

    @property
    def addresses_per_node(self) -> int:
        """Private IP addresses that one node takes from its subnet."""
        return sum(interface.addresses for interface in self.network_interfaces)


def compile_fleet(spec: FleetSpec, *, now: datetime | None = None) -> LaunchPlan:
    """The plan for ``spec``; with ``now``, its notes also say what has ended.

    Raises:
        FleetRefusedError: it cannot be built; ``fleet.capacity.diagnose_fleet`` gives the same without raising.
    """
    diagnostics = diagnose_fleet(spec, now=now)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise FleetRefusedError(spec.name, diagnostics)
    known = instance_type(spec.instance_type)
    efa = uses_efa(spec, known)
    creates = spec.market is MarketKind.RESERVATION and not spec.reserved.exists
    return LaunchPlan(
        spec=spec,
        instance_type=known,
        network_interfaces=network_interfaces(known, spec.efa_layout) if efa else PLAIN,
        market_type=_market_type(spec),
        reservation_id=spec.reserved.reservation_id,
        reservation_group=spec.reserved.resource_group,
        creates_reservation=creates,
        reserved_instances=(spec.reserved.instances or spec.nodes) if creates else 0,
        placement_group=_creates_placement_group(spec, efa=efa),
        placement_group_name=spec.reserved.placement_group,
        uses_efa=efa,
        has_peers=efa or (spec.purpose is Purpose.TRAINING and spec.nodes > 1),
        zone_ids=offering_zones(spec, known),
        price=price_of(spec),
        notes=diagnostics,
    )


def _market_type(spec: FleetSpec) -> str | None:
    if spec.market is MarketKind.SPOT and spec.engine is Engine.POOL:
        # Auto Scaling user guide, mixed instances groups: the group says that it wants Spot, and refuses a template
        # that says so as well.
        return None
    return spec.market.value if spec.market in (MarketKind.CAPACITY_BLOCK, MarketKind.SPOT) else None


def _creates_placement_group(spec: FleetSpec, *, efa: bool) -> bool:
    # A Capacity Block is already placed close together, and a group on top of it, or on top of an existing
    # reservation that is not in the group, answers InsufficientInstanceCapacity. A reservation that is created here
    # is created inside the group.
    if spec.market is MarketKind.CAPACITY_BLOCK or spec.reserved.exists:
        return False
    if spec.placement_group is not None:
        return spec.placement_group
    return spec.purpose is Purpose.TRAINING and (efa or spec.nodes > 1)


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
