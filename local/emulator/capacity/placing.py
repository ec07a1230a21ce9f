"""Which reservation an instance is launched into, as EC2 chooses: by its target, else an open one that matches."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from local.emulator.api.answers import Entry
from local.emulator.api.errors import AwsError
from local.emulator.capacity.reservations import BLOCK, TYPE, Reservations

_EXCEEDED: Final = (
    "The requested reservation does not have sufficient compatible and available capacity for this request."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be launched; ``specification`` is the CapacityReservationSpecification of its template."""

    instance_type: str
    zone: str
    placement_group: str
    is_for_block: bool
    specification: Mapping[str, Any]

    @property
    def target(self) -> Mapping[str, str]:
        """The reservation or the group that it is launched into; empty without a target."""
        found: Mapping[str, str] = self.specification.get("CapacityReservationTarget") or {}
        return found

    @property
    def group(self) -> str:
        """The ARN of the group of reservations that it targets; empty without one."""
        return self.target.get("CapacityReservationResourceGroupArn", "")


@dataclass(frozen=True, slots=True)
class Placing:
    """``members`` gives the ARNs of the reservations in a group, by the group's ARN."""

    reservations: Reservations
    members: Callable[[str], Collection[str]]

    def place(self, region: str, wanted: Wanted) -> str | None:
        """The reservation to launch into; None for on demand.

        Raises:
            AwsError: it targets one reservation, and there is no room in it. A group without room is no error: the
                instance runs on demand (EC2 user guide, "Capacity Reservation groups").
        """
        named = wanted.target.get("CapacityReservationId")
        if named:
            found = self.reservations.find(region, named)
            if not _fits(found, wanted):
                raise AwsError("ReservationCapacityExceeded", _EXCEEDED)
            return named
        fitting = [each for each in self._candidates(region, wanted) if _fits(each, wanted)]
        return str(fitting[0]["CapacityReservationId"]) if fitting else None

    def _candidates(self, region: str, wanted: Wanted) -> list[Entry]:
        found = [self.reservations.entry(each) for each in self.reservations.resources.of_type(region, TYPE)]
        if wanted.group:
            arns = self.members(wanted.group)
            return [each for each in found if each["CapacityReservationArn"] in arns]
        if wanted.specification.get("CapacityReservationPreference") == "none":
            return []
        return [each for each in found if each["InstanceMatchCriteria"] == "open"]


def _fits(entry: Entry, wanted: Wanted) -> bool:
    group_arn = entry.get("PlacementGroupArn", "")
    # Only an active one has instances available.
    return (
        entry["AvailableInstanceCount"] > 0
        and entry["InstanceType"] == wanted.instance_type
        and entry.get("AvailabilityZone") == wanted.zone
        and (entry["ReservationType"] == BLOCK) is wanted.is_for_block
        and (not group_arn or group_arn.rpartition("/")[2] == wanted.placement_group)
    )
