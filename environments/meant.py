"""Places that are mistyped, each told once, and the environment with those that were meant.

What follows from a wrong region or zone is no mistake of its own: the other rules judge what was meant.
"""

import re
from collections.abc import Iterator, Mapping

from environments.fleets import Fleet, TrainingFleet
from environments.model import Environment
from fleet.diagnostics import Diagnostic, did_you_mean, nearest, refuse
from fleet.regions import REGIONS, zone_id_prefix


def as_meant(environment: Environment) -> tuple[Environment | None, list[Diagnostic]]:
    """The environment with its region and zones put right, and what was wrong; None: nobody can say what was meant."""
    found = list(_region_is_right(environment))
    region = _region_of_zones(environment) if found else environment.region
    region = region or nearest(environment.region, sorted(REGIONS))
    if region is None:
        return None, found
    environment = environment.model_copy(update={"region": region})
    written = environment.network.availability_zones
    names = {zone: _zone(environment, zone) for zone in written}
    ids = {zone_id: _zone_id(region, zone_id) for zone_id in written.values()}
    found += [each for zone in written for each in _told(region, zone, names[zone], written[zone], ids[written[zone]])]
    zones = {names[zone]: ids[zone_id] for zone, zone_id in written.items()}
    update = {
        "network": environment.network.model_copy(update={"availability_zones": zones}),
        "fleets": tuple(_moved(fleet, names) for fleet in environment.fleets),
    }
    return environment.model_copy(update=update), found


def unknown_region(path: str, region: str, meant: str | None = None) -> Diagnostic:
    """An error about a region that EC2 does not have."""
    fix = f"did you mean {meant}?" if meant else did_you_mean(region, sorted(REGIONS), "use one such as us-east-2")
    return refuse("unknown-region", path, region, f"unknown region {region}", fix)


def _region_is_right(environment: Environment) -> Iterator[Diagnostic]:
    region, other = environment.region, _region_of_zones(environment)
    if region not in REGIONS:
        yield unknown_region("region", region, other)
    elif other not in {None, region}:
        wrong = f"{region} is not the region of the zones in network.availability_zones"
        yield refuse(
            "zone-of-another-region", "region", region, wrong, f"did you mean {other}? or write zones of {region}"
        )


def _region_of_zones(environment: Environment) -> str | None:
    """The region of all zones, by their names and by their ids; None: they differ, or are of none."""
    zones = environment.network.availability_zones
    regions = {zone.rstrip("abcdefghijklmnopqrstuvwxyz") for zone in zones} & REGIONS
    region = min(regions, default=None)
    if region is None or not all(zone.startswith(region) for zone in zones):
        return None
    return region if all(zone_id.startswith(zone_id_prefix(region)) for zone_id in zones.values()) else None


def _zone(environment: Environment, zone: str) -> str:
    """The zone's name, or what was meant by one that the region cannot have."""
    region = environment.region
    if re.fullmatch(rf"{region}([a-f]|-[a-z]+-\d[a-z])", zone):
        return zone
    wanted = {fleet.availability_zone for fleet in environment.training_fleets}
    missing = {each for each in wanted if each.startswith(region)} - {*environment.network.availability_zones}
    return nearest(zone, sorted(missing)) or f"{region}{zone[-1] if zone[-1:] in {*'abcdef'} else 'a'}"


def _zone_id(region: str, zone_id: str) -> str:
    prefix = zone_id_prefix(region)
    number = re.search(r"\d+$", zone_id)
    is_local = zone_id.startswith(prefix.removesuffix("az")) and number
    return zone_id if is_local else f"{prefix}{number.group() if number else 1}"


def _told(region: str, zone: str, right: str, zone_id: str, right_id: str) -> Iterator[Diagnostic]:
    path = f"network.availability_zones.{zone}"
    if right != zone:
        yield refuse(
            "zone-of-another-region", path, zone, f"{zone} is not a zone of {region}", f"did you mean {right}?"
        )
    elif right_id != zone_id:
        wrong = f"{zone_id} is not a zone id of {region}"
        yield refuse("zone-id-of-another-region", path, zone_id, wrong, f"did you mean {right_id}?")


def _moved(fleet: Fleet, names: Mapping[str, str]) -> Fleet:
    if not isinstance(fleet, TrainingFleet) or fleet.availability_zone not in names:
        return fleet
    return fleet.model_copy(update={"availability_zone": names[fleet.availability_zone]})
