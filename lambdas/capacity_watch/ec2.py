"""A fleet's instances, by their tags, and its reservations: those made with it by tags, others by id or group."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from fleet.naming import PROJECT
from fleet.reserved.observed import FleetDeployment, Node, Reservation

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import (
        CapacityReservationTypeDef,
        DescribeCapacityReservationsRequestPaginateTypeDef,
        DescribeInstancesResultTypeDef,
        FilterTypeDef,
        InstanceTypeDef,
    )
    from mypy_boto3_resource_groups import ResourceGroupsClient

# The API's greatest page.
_PAGE: Final = 1000
_NOT_FOUND: Final = "InvalidCapacityReservationId.NotFound"
# Those that nothing can be launched into any more are not worth a place in the group.
_ENDED: Final = frozenset({"expired", "cancelled", "cancelling", "failed", "payment-failed", "unsupported"})


class Ec2Nodes:
    """Instances by tag, and tags by instance."""

    def __init__(self, ec2: "EC2Client") -> None:
        self._ec2 = ec2

    def of(self, place: FleetDeployment) -> tuple[Node, ...]:
        """The fleet's instances that are pending or running."""
        tags = {"project": PROJECT, "environment": place.environment, "fleet": place.fleet}
        filters = [*_filters(tags), _filter("instance-state-name", "pending", "running")]
        pages = self._ec2.get_paginator("describe_instances").paginate(
            Filters=filters, PaginationConfig={"PageSize": _PAGE}
        )
        return tuple(_node(each) for page in pages for each in _instances(page))

    def fleet_of(self, instance_id: str) -> tuple[str, str] | None:
        """The environment and the fleet that an instance is tagged with; None when it is nobody's of ours."""
        # By a filter, and not by its id: an instance that is gone already is then an empty answer and no error.
        page = self._ec2.describe_instances(Filters=[_filter("instance-id", instance_id)])
        for instance in _instances(page):
            tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
            if tags.get("project") == PROJECT and "environment" in tags and "fleet" in tags:
                return tags["environment"], tags["fleet"]
        return None


class Ec2Reservations:
    """``groups`` is asked only for fleets that are launched into a group."""

    def __init__(self, ec2: "EC2Client", groups: "ResourceGroupsClient") -> None:
        self._ec2, self._groups = ec2, groups

    def of(self, place: FleetDeployment) -> tuple[Reservation, ...]:
        """Every reservation that the fleet is launched into or was to be, in whatever state."""
        if place.own_group:
            tags = {"project": PROJECT, "environment": place.environment, "fleet": place.fleet}
            return tuple(map(_reservation, self._described({"Filters": _filters(tags)})))
        if place.resource_group:
            ids = sorted(arn.rpartition("/")[2] for arn in self._members(place.resource_group))
            return self._by_id(ids) if ids else ()
        return self._by_id([place.reservation_id]) if place.reservation_id else ()

    def made_in(self, environment: str) -> tuple[tuple[str, Reservation], ...]:
        """Every reservation with the tags of ``environment``, each with the name of the fleet that it was made for."""
        entries = self._described({"Filters": _filters({"project": PROJECT, "environment": environment})})
        return tuple((_fleet(entry), _reservation(entry)) for entry in entries)

    def join(self, place: FleetDeployment, reservations: Sequence[Reservation]) -> None:
        """Put into the fleet's own group whichever of ``reservations`` are not in it.

        Raises:
            LookupError: Resource Groups did not take one of them; the message is its own.
        """
        living = {each.arn for each in reservations if each.state not in _ENDED}
        if place.own_group is None or not living:
            return
        outside = sorted(living - set(self._members(place.own_group)))
        if not outside:
            return
        answer = self._groups.group_resources(Group=place.own_group, ResourceArns=outside)
        for failed in answer.get("Failed", []):
            raise LookupError(f"{failed['ResourceArn']} does not go into {place.own_group}: {failed['ErrorMessage']}")

    def _members(self, group: str) -> Iterator[str]:
        for page in self._groups.get_paginator("list_group_resources").paginate(Group=group):
            yield from (item["Identifier"]["ResourceArn"] for item in page.get("Resources", []))

    def _by_id(self, ids: Sequence[str]) -> tuple[Reservation, ...]:
        try:
            return tuple(map(_reservation, self._described({"CapacityReservationIds": ids})))
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _NOT_FOUND:
                raise
            return ()

    def _described(
        self, which: "DescribeCapacityReservationsRequestPaginateTypeDef"
    ) -> "Iterator[CapacityReservationTypeDef]":
        for page in self._ec2.get_paginator("describe_capacity_reservations").paginate(**which):
            yield from page["CapacityReservations"]


def _filters(tags: Mapping[str, str]) -> "list[FilterTypeDef]":
    return [_filter(f"tag:{key}", value) for key, value in tags.items()]


def _filter(name: str, *values: str) -> "FilterTypeDef":
    return {"Name": name, "Values": list(values)}


def _fleet(entry: "CapacityReservationTypeDef") -> str:
    return next((tag["Value"] for tag in entry.get("Tags", []) if tag["Key"] == "fleet"), "")


def _reservation(entry: "CapacityReservationTypeDef") -> Reservation:
    return Reservation(
        reservation_id=entry["CapacityReservationId"],
        arn=entry["CapacityReservationArn"],
        state=entry["State"],
        instance_type=entry["InstanceType"],
        # A future-dated one may not lie anywhere yet.
        zone=entry.get("AvailabilityZone", ""),
        total=entry["TotalInstanceCount"],
        available=entry["AvailableInstanceCount"],
        is_block=entry.get("ReservationType") == "capacity-block",
        created_at=entry.get("CreateDate"),
        starts_at=entry.get("StartDate"),
        ends_at=entry.get("EndDate"),
    )


def _instances(page: "DescribeInstancesResultTypeDef") -> "list[InstanceTypeDef]":
    return [instance for reservation in page["Reservations"] for instance in reservation["Instances"]]


def _node(entry: "InstanceTypeDef") -> Node:
    return Node(entry["InstanceId"], entry["LaunchTime"], entry.get("CapacityReservationId"))
