"""From a fleet of an environment file to the plain values that ``fleet.capacity`` compiles."""

from environments.model import CapacityBlock, Environment, Fleet, InferenceFleet, Reservation, TrainingFleet, end_of
from fleet.fleet_spec import FleetSpec, MarketKind, Purpose


def fleet_spec(environment: Environment, fleet: Fleet) -> FleetSpec:
    """The spec of one fleet, in its environment's region and zones.

    A training fleet lies in its one zone (EFA traffic does not cross zones); an inference fleet in all of them.
    """
    zones = environment.network.availability_zones
    zone = fleet.availability_zone if isinstance(fleet, TrainingFleet) else None
    market = fleet.market
    return FleetSpec(
        name=fleet.name,
        purpose=Purpose(fleet.purpose),
        instance_type=fleet.instance_type,
        nodes=fleet.nodes,
        region=environment.region,
        zone_ids=tuple(zones.values()) if zone is None else (zones[zone],),
        market=MarketKind(market.kind),
        availability_zone=zone,
        reservation_id=market.reservation_id if isinstance(market, Reservation | CapacityBlock) else None,
        ends_at=end_of(market),
        efa=fleet.efa,
        lnc=fleet.lnc,
        devices_per_task=fleet.endpoint.devices_per_task if isinstance(fleet, InferenceFleet) else None,
        tasks=fleet.endpoint.tasks if isinstance(fleet, InferenceFleet) else None,
    )
