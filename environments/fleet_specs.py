"""From the fleets of an environment file to the plain values that ``fleet.capacity`` compiles, and to their plans."""

from environments.fleets import Fleet, InferenceFleet, TrainingFleet
from environments.markets import CapacityBlock, Reservation, end_of
from environments.model import Environment
from fleet.capacity.plan import LaunchPlan, compile_fleet
from fleet.fleet_spec import Engine, FleetSpec, Purpose, Reserved, Software
from fleet.instances import Price, PriceKind, catalogue


def launch_plans(environment: Environment) -> dict[str, LaunchPlan]:
    """The plan of every fleet with nodes, by its name: compiled once, and handed on to all that is built from it.

    Raises:
        FleetRefusedError: a fleet cannot be built; ``loader.load_file`` refuses a file with one.
    """
    return {fleet.name: compile_fleet(fleet_spec(environment, fleet)) for fleet in environment.node_fleets}


def fleet_spec(environment: Environment, fleet: Fleet) -> FleetSpec:
    """The spec of one fleet, in its environment's region and zones.

    A training fleet lies in its one zone (EFA traffic does not cross zones); an inference fleet in all of them.
    """
    zones = environment.network.availability_zones
    zone = fleet.availability_zone if isinstance(fleet, TrainingFleet) else None
    zone_ids = tuple(zones.values()) if zone is None else (zones[zone],)
    return FleetSpec(
        name=fleet.name,
        purpose=Purpose(fleet.purpose),
        instance_type=fleet.instance_type,
        nodes=fleet.nodes,
        region=environment.region,
        zone_ids=zone_ids,
        market=fleet.market_kind,
        engine=fleet.engine if isinstance(fleet, TrainingFleet) else Engine.BATCH,
        availability_zone=zone,
        reserved=_reserved(fleet),
        placement_group=fleet.placement_group,
        efa=fleet.efa,
        efa_layout=fleet.efa_layout,
        lnc=fleet.lnc,
        software=_software(fleet),
        devices_per_task=fleet.endpoint.devices_per_task if isinstance(fleet, InferenceFleet) else None,
        fallback_zone_ids=tuple(each for each in zones.values() if each not in zone_ids),
        alternative_types=fleet.alternative_types,
        price=negotiated_price(environment.region, fleet),
    )


def negotiated_price(region: str, fleet: Fleet) -> Price | None:
    """The fleet's own rate, if its file names one."""
    rate = fleet.price
    if rate is None:
        return None
    said = f"the environment's file, by {rate.contract}"
    return Price(PriceKind.NEGOTIATED, rate.usd_per_hour, region, rate.as_of.isoformat(), rate.contract, said)


def _reserved(fleet: Fleet) -> Reserved:
    market = fleet.market
    if not isinstance(market, Reservation | CapacityBlock):
        return Reserved()
    return Reserved(
        reservation_id=market.reservation_id,
        resource_group=market.resource_group,
        placement_group=market.placement_group if isinstance(market, Reservation) else None,
        instances=market.instances,
        starts_at=market.starts_at if isinstance(market, CapacityBlock) else None,
        ends_at=end_of(market),
    )


def _software(fleet: Fleet) -> Software:
    image = fleet.endpoint.container_image if isinstance(fleet, InferenceFleet) else fleet.container_image
    return Software(
        neuron_sdk=fleet.neuron_sdk,
        framework=fleet.framework,
        container_image=image,
        machine_image=fleet.image_parameter,
        # Only what is measured needs a peak to be measured against.
        dtype=fleet.dtype if fleet.reports_flops else None,
    )


def can_be_planned(environment: Environment) -> bool:
    """Whether every fleet is of a known type and in a zone of the network; each that is not is an error elsewhere."""
    zones = environment.network.availability_zones
    return all(fleet.instance_type in catalogue() for fleet in environment.fleets) and all(
        fleet.availability_zone in zones for fleet in environment.training_fleets
    )
