"""A fleet's reservations: those that were made with it by their tags, others by their id or by their group."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from fleet.naming import PROJECT
from fleet.reserved.observed import Place, Reservation
from lambdas.capacity_watch.clients import Ec2Client, GroupsClient

_PAGES: Final = 20
_NOT_FOUND: Final = "InvalidCapacityReservationId.NotFound"
# Those that nothing can be launched into any more are not worth a place in the group.
_ENDED: Final = frozenset({"expired", "cancelled", "cancelling", "failed", "payment-failed", "unsupported"})


class Ec2Reservations:
    """``groups`` is asked only for fleets that are launched into a group."""

    def __init__(self, ec2: Ec2Client, groups: GroupsClient) -> None:
        self._ec2, self._groups = ec2, groups

    def of(self, place: Place) -> tuple[Reservation, ...]:
        """Every reservation that the fleet is launched into or was to be, in whatever state."""
        if place.own_group:
            tags = {"project": PROJECT, "environment": place.environment, "fleet": place.fleet}
            return tuple(map(_reservation, self._described(Filters=_filters(tags))))
        if place.resource_group:
            ids = sorted(arn.rpartition("/")[2] for arn in self._members(place.resource_group))
            return self._by_id(ids) if ids else ()
        return self._by_id([place.reservation_id]) if place.reservation_id else ()

    def made_in(self, environment: str) -> tuple[tuple[str, Reservation], ...]:
        """Every reservation with the tags of ``environment``, each with the name of the fleet that it was made for."""
        entries = self._described(Filters=_filters({"project": PROJECT, "environment": environment}))
        return tuple((_fleet(entry), _reservation(entry)) for entry in entries)

    def join(self, place: Place, reservations: Sequence[Reservation]) -> None:
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
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._groups.list_group_resources(Group=group, **more)
            yield from (item["Identifier"]["ResourceArn"] for item in page.get("Resources", []))
            if not page.get("NextToken"):
                return
            more = {"NextToken": page["NextToken"]}

    def _by_id(self, ids: Sequence[str]) -> tuple[Reservation, ...]:
        try:
            return tuple(map(_reservation, self._described(CapacityReservationIds=list(ids))))
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _NOT_FOUND:
                raise
            return ()

    def _described(self, **which: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._ec2.describe_capacity_reservations(**which, **more)
            found += page["CapacityReservations"]
            if not page.get("NextToken"):
                break
            more = {"NextToken": page["NextToken"]}
        return found


def _filters(tags: Mapping[str, str]) -> list[dict[str, object]]:
    return [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]


def _fleet(entry: dict[str, Any]) -> str:
    return next((tag["Value"] for tag in entry.get("Tags", []) if tag["Key"] == "fleet"), "")


def _reservation(entry: dict[str, Any]) -> Reservation:
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
