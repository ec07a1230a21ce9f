"""What must hold within an environment file beyond the shape of each value."""

from collections.abc import Iterator

from environments.fleet_specs import fleet_spec
from environments.model import Environment, InferenceFleet, TrainingFleet
from fleet.capacity_rules import diagnose_fleet, zone_id_prefix
from fleet.diagnostics import Diagnostic, refuse


def diagnose_environment(environment: Environment) -> Iterator[Diagnostic]:
    """Everything that is wrong with a well-formed environment, and notes."""
    yield from _zones_are_of_the_region(environment)
    yield from _zone_ids_are_of_the_region(environment)
    for index, fleet in enumerate(environment.fleets):
        place = f"fleets[{index}]"
        if isinstance(fleet, TrainingFleet) and fleet.availability_zone not in environment.network.availability_zones:
            yield _unknown_zone(environment, fleet.availability_zone, place)
            continue
        if isinstance(fleet, InferenceFleet):
            yield from _speaks_tls(environment, fleet, place)
            yield from _lies_in_two_zones(environment, place)
        for diagnostic in diagnose_fleet(fleet_spec(environment, fleet)):
            yield diagnostic.under(place)


def _zones_are_of_the_region(environment: Environment) -> Iterator[Diagnostic]:
    for zone in environment.network.availability_zones:
        if not zone.startswith(environment.region):
            yield refuse(
                "zone-of-another-region",
                f"network.availability_zones.{zone}",
                zone,
                f"{zone} is not a zone of {environment.region}",
                f"use zone names such as {environment.region}a",
            )


def _zone_ids_are_of_the_region(environment: Environment) -> Iterator[Diagnostic]:
    prefix = zone_id_prefix(environment.region)
    for zone, zone_id in environment.network.availability_zones.items():
        if not zone_id.startswith(prefix):
            yield refuse(
                "zone-of-another-region",
                f"network.availability_zones.{zone}",
                zone_id,
                f"{zone_id} is not a zone id of {environment.region}",
                f"its zone ids start with {prefix}",
            )


def _unknown_zone(environment: Environment, zone: str, place: str) -> Diagnostic:
    return refuse(
        "unknown-zone",
        f"{place}.availability_zone",
        zone,
        f"{zone} is not one of network.availability_zones",
        f"use one of {', '.join(environment.network.availability_zones)}, or add it there with its zone id",
    )


def _speaks_tls(environment: Environment, fleet: InferenceFleet, place: str) -> Iterator[Diagnostic]:
    if fleet.endpoint.certificate_arn is None and not environment.plain_http:
        yield refuse(
            "endpoint-without-tls",
            f"{place}.endpoint.certificate_arn",
            "",
            "missing: the endpoint would speak plain HTTP",
            "give the certificate's ARN, or set plain_http: true in an environment that nothing outside can reach",
        )


def _lies_in_two_zones(environment: Environment, place: str) -> Iterator[Diagnostic]:
    # Elastic Load Balancing user guide: an Application Load Balancer needs subnets in two zones or more.
    zones = environment.network.availability_zones
    if len(zones) < 2:
        yield refuse(
            "endpoint-in-one-zone",
            f"{place}.endpoint",
            ", ".join(zones),
            "its load balancer needs two zones, and network.availability_zones has one",
            "add a second zone there; nodes are only launched in zones that offer their type",
        )
