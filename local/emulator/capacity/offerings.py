"""Which instance types a region and its zones offer: the domain's dated table, unless something else is planted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fleet.instances import InstanceType, catalogue, instance_type
from local.emulator.api.answers import Entry, matching, page
from local.emulator.api.errors import AwsError

_FILTERS: Final = {"instance-type": "InstanceType", "location": "Location"}


@dataclass(slots=True)
class Offerings:
    """One account's view of what EC2 offers."""

    _planted: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def plant(self, region: str, type_name: str, zone_ids: Sequence[str]) -> None:
        """Offer a type in these zones of a region and in no other.

        Raises:
            UnknownInstanceTypeError: EC2 does not have it.
        """
        self._planted[region, instance_type(type_name).name] = frozenset(zone_ids)

    def describe(self, region: str, zones: Mapping[str, str], request: Mapping[str, Any]) -> Entry:
        """DescribeInstanceTypeOfferings; ``zones`` are the ids of the region's zones by name."""
        kind = request.get("LocationType", "region")
        found = [
            {"InstanceType": known.name, "LocationType": kind, "Location": location}
            for known in catalogue().values()
            for location in self._locations(region, zones, known, kind)
        ]
        entries, more = page(matching(found, request.get("Filters", []), _FILTERS), request)
        return {"InstanceTypeOfferings": entries, **more}

    def _locations(self, region: str, zones: Mapping[str, str], known: InstanceType, kind: str) -> list[str]:
        ids = self._planted.get((region, known.name), known.availability_zone_ids)
        offered = {name: zone_id for name, zone_id in zones.items() if zone_id in ids}
        if kind == "availability-zone-id":
            return list(offered.values())
        if kind == "availability-zone":
            return list(offered)
        if kind == "region":
            is_planted = (region, known.name) in self._planted
            return [region] if (offered if is_planted else region in known.regions) else []
        raise AwsError("InvalidParameterValue", f"Invalid value '{kind}' for LocationType")
