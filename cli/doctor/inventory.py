"""What the account has of what fleets use: running accelerated instances, and capacity reservations."""

from typing import Any, Final

from cli.doctor.account import Account
from fleet.instances import catalogue
from fleet.naming import PROJECT
from planning.preflight.quotas import InstanceSeen
from planning.preflight.reservations import ReservationSeen

_BLOCK: Final = "capacity-block"


def instances(account: Account) -> list[InstanceSeen]:
    """Every Trainium and Inferentia instance that counts against a quota now."""
    known = catalogue().values()
    filters = [
        {"Name": "instance-type", "Values": sorted({f"{each.family}.*" for each in known if each.is_neuron})},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    launches = account.every("ec2", "describe_instances", "Reservations", Filters=filters)
    return [_instance(each) for launch in launches for each in launch.get("Instances", [])]


def reservations(account: Account) -> dict[str, ReservationSeen]:
    """Every capacity reservation that the account can use, by id; Capacity Blocks are among them."""
    found = account.every("ec2", "describe_capacity_reservations", "CapacityReservations")
    return {each["CapacityReservationId"]: _reservation(each) for each in found}


def tags(thing: dict[str, Any]) -> dict[str, str]:
    """The tags of something as EC2 shows it."""
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", [])}


def _instance(seen: dict[str, Any]) -> InstanceSeen:
    environment, fleet = _owner(seen)
    return InstanceSeen(
        instance_type=seen["InstanceType"],
        subnet_id=seen.get("SubnetId", ""),
        lifecycle=seen.get("InstanceLifecycle", ""),
        reservation_id=seen.get("CapacityReservationId"),
        environment=environment,
        fleet=fleet,
    )


def _reservation(seen: dict[str, Any]) -> ReservationSeen:
    environment, fleet = _owner(seen)
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


def _owner(seen: dict[str, Any]) -> tuple[str | None, str | None]:
    """The environment and fleet of this project that something belongs to."""
    own = tags(seen)
    return (own.get("environment"), own.get("fleet")) if own.get("project") == PROJECT else (None, None)
