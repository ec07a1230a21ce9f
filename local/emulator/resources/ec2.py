"""EC2's answers about capacity reservations and placement groups, from the resources that stacks have made."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from local.emulator.resources.store import Resource

# Response members by the attribute or property that holds them.
_RESERVATION_MEMBERS = {
    "capacityReservationId": "Id",
    "ownerId": "OwnerId",
    "capacityReservationArn": "CapacityReservationArn",
    "instanceType": "InstanceType",
    "instancePlatform": "InstancePlatform",
    "availabilityZone": "AvailabilityZone",
    "tenancy": "Tenancy",
    "totalInstanceCount": "TotalInstanceCount",
    "availableInstanceCount": "AvailableInstanceCount",
    "state": "State",
    "endDateType": "EndDateType",
    "instanceMatchCriteria": "InstanceMatchCriteria",
    "reservationType": "ReservationType",
}
_FILTERS = {
    "instance-type": "InstanceType",
    "availability-zone": "AvailabilityZone",
    "state": "State",
    "instance-match-criteria": "InstanceMatchCriteria",
}


def capacity_reservations_xml(found: Sequence[Resource], parameters: Mapping[str, list[str]]) -> str:
    """The reservation set: all, those of CapacityReservationId.N, or those that every Filter.N matches."""
    wanted = {values[0] for name, values in parameters.items() if name.startswith("CapacityReservationId.")}
    filters = _filters(parameters)
    items = [
        _item(values)
        for values in ({**each.properties, **each.attributes} for each in found)
        if (not wanted or values["Id"] in wanted)
        and all(str(values.get(_FILTERS.get(name, name), "")) in allowed for name, allowed in filters.items())
    ]
    return f"<capacityReservationSet>{''.join(items)}</capacityReservationSet>"


def _filters(parameters: Mapping[str, list[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key, name in parameters.items():
        if key.startswith("Filter.") and key.endswith(".Name"):
            prefix = key.removesuffix("Name") + "Value."
            found[name[0]] = {values[0] for each, values in parameters.items() if each.startswith(prefix)}
    return found


def _item(values: Mapping[str, Any]) -> str:
    present = {member: values[name] for member, name in _RESERVATION_MEMBERS.items() if name in values}
    return "<item>" + "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in present.items()) + "</item>"


def placement_group_record(group: Resource) -> dict[str, Any]:
    """A placement group in the form that ministack keeps the ones made by its API."""
    account_arn = f"arn:aws:ec2:{group.region}:000000000000:placement-group/{group.physical_id}"
    return {
        "GroupName": group.physical_id,
        "GroupId": group.attributes["GroupId"],
        "State": "available",
        "Strategy": group.properties.get("Strategy", "cluster"),
        "GroupArn": account_arn,
        "PartitionCount": group.properties.get("PartitionCount", 0),
    }
