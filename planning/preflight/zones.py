"""Do the zone names of the file mean the same zones in the account?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet.diagnostics import Diagnostic, refuse, warn


@dataclass(frozen=True, slots=True)
class ZoneSeen:
    """One Availability Zone, as EC2 DescribeAvailabilityZones shows it to the account."""

    name: str
    zone_id: str
    state: str


def diagnose_zones(wanted: Mapping[str, str], seen: Iterable[ZoneSeen]) -> Iterator[Diagnostic]:
    """Errors for names that the account does not have or that mean other zones; ``wanted`` is zone ids by name.

    AWS RAM user guide, "Availability Zone IDs for your AWS resources": names are mapped to zones for each account
    independently, ids are the same in all of them.
    """
    known = {zone.name: zone for zone in seen}
    names = {zone.zone_id: zone.name for zone in known.values()}
    for name, zone_id in wanted.items():
        path = f"network.availability_zones.{name}"
        zone = known.get(name)
        if zone is None:
            there = ", ".join(sorted(known)) or "none"
            yield refuse("zone-not-in-account", path, name, f"the account has no zone {name}", f"it has: {there}")
        elif zone.zone_id != zone_id:
            named = f", and {zone_id} is called {names[zone_id]}" if zone_id in names else ""
            yield refuse(
                "zone-id-differs",
                path,
                zone_id,
                f"in this account {name} is {zone.zone_id}{named}",
                f"write {name}: {zone.zone_id}, and check which zone each fleet asks for",
            )
        elif zone.state != "available":
            yield warn(
                "zone-impaired",
                path,
                name,
                f"EC2 calls the zone {zone.state}",
                "see the AWS Health dashboard before a deployment",
            )
