"""From what somebody asks for to what EC2 must be told: network interfaces, market, reservation, placement."""

from dataclasses import dataclass
from enum import StrEnum

from fleet.capacity_rules import diagnose_fleet
from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import FleetSpec, MarketKind, Purpose
from fleet.instances import InstanceType, Price, instance_type
from fleet.prices import price_for


class FleetRefusedError(ValueError):
    """A fleet that cannot be built; ``diagnostics`` say why, one line each."""

    def __init__(self, fleet: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Keep the errors among ``diagnostics``."""
        self.diagnostics = tuple(diagnostic for diagnostic in diagnostics if diagnostic.is_error)
        super().__init__("\n".join(f"fleet {fleet}: {diagnostic}" for diagnostic in self.diagnostics))


class InterfaceType(StrEnum):
    """EC2's names: ``efa`` carries IP and EFA traffic."""

    INTERFACE = "interface"
    EFA = "efa"


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """One interface of a launch template."""

    network_card: int
    device: int
    kind: InterfaceType


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What a launch template, a placement group and a reservation are made from."""

    instance_type: InstanceType
    network_interfaces: tuple[NetworkInterface, ...]
    market_type: str | None
    """EC2's MarketType: capacity-block, spot, or None for on-demand and reservations of it."""
    reservation_id: str | None
    """An existing reservation to launch into."""
    creates_reservation: bool
    placement_group: bool
    uses_efa: bool
    zone_ids: tuple[str, ...]
    """The zones, by id, of those asked for that offer the type."""
    price: Price | None
    notes: tuple[Diagnostic, ...]


def compile_fleet(spec: FleetSpec) -> LaunchPlan:
    """The plan for ``spec``.

    Raises:
        FleetRefusedError: it cannot be built; ``fleet.capacity_rules.diagnose_fleet`` gives the same without raising.
    """
    diagnostics = diagnose_fleet(spec)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise FleetRefusedError(spec.name, diagnostics)
    known = instance_type(spec.instance_type)
    uses_efa = _uses_efa(spec, known)
    return LaunchPlan(
        instance_type=known,
        network_interfaces=network_interfaces(known) if uses_efa else (_PLAIN,),
        market_type=spec.market.value if spec.market in (MarketKind.CAPACITY_BLOCK, MarketKind.SPOT) else None,
        reservation_id=spec.reservation_id,
        creates_reservation=spec.market is MarketKind.RESERVATION and spec.reservation_id is None,
        placement_group=_needs_placement_group(spec, uses_efa=uses_efa),
        uses_efa=uses_efa,
        zone_ids=tuple(zone for zone in spec.zone_ids if zone in known.availability_zone_ids),
        price=price_for(known, spec.region, spec.market),
        notes=diagnostics,
    )


_PLAIN = NetworkInterface(network_card=0, device=0, kind=InterfaceType.INTERFACE)


def network_interfaces(known: InstanceType) -> tuple[NetworkInterface, ...]:
    """One EFA interface on every network card, as the Neuron documentation and AWS's trn2 template lay them out.

    Card 0 holds the primary interface at device 0. Further cards use device 1, because device 0 of an instance is
    its primary interface; a card with room for a single interface has only device 0.
    """
    further = 0 if known.enis_per_card == 1 else 1
    return tuple(
        NetworkInterface(network_card=card, device=further if card else 0, kind=InterfaceType.EFA)
        for card in range(known.efa_interfaces)
    )


def _uses_efa(spec: FleetSpec, known: InstanceType) -> bool:
    if spec.efa is not None:
        return spec.efa
    return bool(known.efa_interfaces) and spec.purpose is Purpose.TRAINING and spec.nodes > 1


def _needs_placement_group(spec: FleetSpec, *, uses_efa: bool) -> bool:
    # A Capacity Block is already placed close together, and a group on top of it, or on top of an existing
    # reservation that is not in the group, answers InsufficientInstanceCapacity. A reservation that is created here
    # is created inside the group.
    if spec.purpose is Purpose.INFERENCE or spec.market is MarketKind.CAPACITY_BLOCK or spec.reservation_id:
        return False
    return uses_efa or spec.nodes > 1
