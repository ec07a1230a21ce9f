"""What the account has of what fleets use: running accelerated instances, and capacity reservations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cli.doctor.account import DoctorAccount
from fleet.instances import catalogue
from fleet.naming import PROJECT
from planning.preflight.quotas import InstanceSeen
from planning.preflight.reservations import ReservationSeen

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import CapacityReservationTypeDef, FilterTypeDef, InstanceTypeDef, TagTypeDef

_BLOCK: Final = "capacity-block"


def instances(account: DoctorAccount) -> list[InstanceSeen]:
    """Every Trainium and Inferentia instance that counts against a quota now."""
    known = catalogue().values()
    filters: list[FilterTypeDef] = [
        {"Name": "instance-type", "Values": sorted({f"{each.family}.*" for each in known if each.is_neuron})},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    launches = [
        each
        for page in account.ec2.get_paginator("describe_instances").paginate(Filters=filters)
        for each in page.get("Reservations", [])
    ]
    return [_instance(each) for launch in launches for each in launch.get("Instances", [])]


def reservations(account: DoctorAccount) -> dict[str, ReservationSeen]:
    """Every capacity reservation that the account can use, by id; Capacity Blocks are among them."""
    found = [
        each
        for page in account.ec2.get_paginator("describe_capacity_reservations").paginate()
        for each in page.get("CapacityReservations", [])
    ]
    return {each["CapacityReservationId"]: _reservation(each) for each in found}


def tags(tagged: "Sequence[TagTypeDef]") -> dict[str, str]:
    """Tags as EC2 shows them."""
    return {tag["Key"]: tag["Value"] for tag in tagged}


def _instance(seen: "InstanceTypeDef") -> InstanceSeen:
    environment, fleet = _owner(seen.get("Tags", []))
    return InstanceSeen(
        instance_type=seen["InstanceType"],
        subnet_id=seen.get("SubnetId", ""),
        lifecycle=seen.get("InstanceLifecycle", ""),
        reservation_id=seen.get("CapacityReservationId"),
        environment=environment,
        fleet=fleet,
    )


def _reservation(seen: "CapacityReservationTypeDef") -> ReservationSeen:
    environment, fleet = _owner(seen.get("Tags", []))
    group = seen.get("PlacementGroupArn")
    return ReservationSeen(
        reservation_id=seen["CapacityReservationId"],
        state=seen["State"],
        is_block=seen.get("ReservationType") == _BLOCK,
        instance_type=seen["InstanceType"],
        zone_id=seen.get("AvailabilityZoneId", ""),
        total=seen["TotalInstanceCount"],
        available=seen.get("AvailableInstanceCount", 0),
        starts_at=seen.get("StartDate"),
        ends_at=seen.get("EndDate"),
        is_targeted=seen.get("InstanceMatchCriteria") == "targeted",
        placement_group=group.rpartition("/")[2] if group else None,
        platform=seen.get("InstancePlatform", "Linux/UNIX"),
        tenancy=seen.get("Tenancy", "default"),
        environment=environment,
        fleet=fleet,
    )


def _owner(tagged: "Sequence[TagTypeDef]") -> tuple[str | None, str | None]:
    """The environment and fleet of this project that something belongs to."""
    own = tags(tagged)
    return (own.get("environment"), own.get("fleet")) if own.get("project") == PROJECT else (None, None)
