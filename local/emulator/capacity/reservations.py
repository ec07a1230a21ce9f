"""EC2's capacity reservations: made by stacks, bought as Capacity Blocks, or seeded; the clock ends them."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from local.emulator.api.answers import Entry, matching, page
from local.emulator.api.errors import AwsError
from local.emulator.clock import EmulatorClock
from local.emulator.resources.store import Resource, ResourceStore

TYPE: Final = "AWS::EC2::CapacityReservation"
BLOCK: Final = "capacity-block"
_ACTIVE: Final = "active"
_FILTERS: Final = {
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "end-date-type": "EndDateType",
    "instance-match-criteria": "InstanceMatchCriteria",
    "instance-platform": "InstancePlatform",
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "placement-group-arn": "PlacementGroupArn",
    "reservation-type": "ReservationType",
    "state": "State",
    "tenancy": "Tenancy",
}
_COPIED: Final = ("InstanceType", "InstancePlatform", "InstanceMatchCriteria", "PlacementGroupArn", "Tenancy")
_DEFAULTS: Final = {"InstancePlatform": "Linux/UNIX", "InstanceMatchCriteria": "open", "Tenancy": "default"}


def new_id() -> str:
    """``cr-`` and 17 hexadecimal digits."""
    return f"cr-{secrets.token_hex(9)[:17]}"


@dataclass(frozen=True, slots=True)
class Reservations:
    """``zone_id`` maps the name of a zone to its id; ``stack_tags`` gives what CloudFormation adds to a resource."""

    account: str
    resources: ResourceStore
    clock: EmulatorClock
    zone_id: Callable[[str], str]
    stack_tags: Callable[[Resource], Mapping[str, str]]

    def describe(self, region: str, request: Mapping[str, Any]) -> Entry:
        """DescribeCapacityReservations."""
        found = {each.physical_id: self.entry(each) for each in self.resources.of_type(region, TYPE)}
        wanted = request.get("CapacityReservationIds", [])
        if missing := [each for each in wanted if each not in found]:
            raise unknown(", ".join(missing))
        chosen = [found[each] for each in wanted] if wanted else list(found.values())
        entries, more = page(matching(chosen, request.get("Filters", []), _FILTERS), request)
        return {"CapacityReservations": entries, **more}

    def find(self, region: str, reservation_id: str) -> Entry:
        """One reservation as EC2 shows it.

        Raises:
            AwsError: there is none with this id.
        """
        found = self.resources.get(region, TYPE, reservation_id)
        if found is None:
            raise unknown(reservation_id)
        return self.entry(found)

    def put(self, region: str, reservation_id: str, properties: Entry, attributes: Entry) -> Resource:
        """A reservation that no stack has made, or a change of any; what is not named stays as it is."""
        made = self.resources.get(region, TYPE, reservation_id) or self._new(region, reservation_id)
        made.properties.update(properties)
        made.attributes.update(attributes)
        self.resources.put(made)
        return made

    def _new(self, region: str, reservation_id: str) -> Resource:
        made = Resource(TYPE, reservation_id, region, "", "", {}, {"Id": reservation_id})
        self.begin(made)
        return made

    def begin(self, made: Resource) -> None:
        """Complete a reservation that was not there before: it starts now, unless it says otherwise."""
        if self.resources.get(made.region, TYPE, made.physical_id) is not None:
            return
        created = iso(self.clock.now())
        arn = f"arn:aws:ec2:{made.region}:{self.account}:capacity-reservation/{made.physical_id}"
        made.attributes.update(CreateDate=created, StartDate=created, CapacityReservationArn=arn)

    def entry(self, made: Resource) -> Entry:
        """A reservation as EC2 shows it now."""
        properties, attributes = made.properties, made.attributes
        zone = properties.get("AvailabilityZone", "")
        state, total = self._state(made), int(properties["InstanceCount"])
        # By others, as seeded, and by the instances that run in it here.
        used = attributes.get("Used", 0) + attributes.get("Running", 0)
        entry = {
            "CapacityReservationId": made.physical_id,
            "OwnerId": self.account,
            "CapacityReservationArn": attributes["CapacityReservationArn"],
            "AvailabilityZoneId": properties.get("AvailabilityZoneId") or (self.zone_id(zone) if zone else None),
            "AvailabilityZone": zone or None,
            **{name: properties.get(name, _DEFAULTS.get(name)) for name in _COPIED},
            "TotalInstanceCount": total,
            # What is not active can be used by nobody.
            "AvailableInstanceCount": max(total - used, 0) if state == _ACTIVE else 0,
            "EbsOptimized": properties.get("EbsOptimized", False),
            "EphemeralStorage": properties.get("EphemeralStorage", False),
            "State": state,
            "StartDate": moment(attributes["StartDate"]),
            "EndDate": moment(properties["EndDate"]) if "EndDate" in properties else None,
            "EndDateType": "limited" if "EndDate" in properties else "unlimited",
            "CreateDate": moment(attributes["CreateDate"]),
            "ReservationType": attributes.get("ReservationType", "default"),
            "Tags": [{"Key": key, "Value": value} for key, value in self._tags(made).items()],
        }
        return {name: value for name, value in entry.items() if value is not None}

    def _state(self, made: Resource) -> str:
        """What was seeded, or what the clock says."""
        if "SeededState" in made.attributes:
            return str(made.attributes["SeededState"])
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        if now < moment(made.attributes["StartDate"]):
            return "scheduled"
        return "expired" if "EndDate" in made.properties and now >= moment(made.properties["EndDate"]) else _ACTIVE

    def _tags(self, made: Resource) -> dict[str, str]:
        specifications = made.properties.get("TagSpecifications", [])
        own = {tag["Key"]: tag["Value"] for each in specifications for tag in each.get("Tags", [])}
        return {**self.stack_tags(made), **own}


def unknown(reservation_id: str) -> AwsError:
    """EC2's error for an id that it does not know."""
    message = f"The capacity reservation ID '{reservation_id}' does not exist"
    return AwsError("InvalidCapacityReservationId.NotFound", message)


def iso(seconds: float) -> str:
    """Unix seconds as CloudFormation writes a date."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def moment(text: str) -> datetime:
    """A date in ISO 8601; without an offset it is UTC.

    Raises:
        ValueError: it is none.
    """
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
