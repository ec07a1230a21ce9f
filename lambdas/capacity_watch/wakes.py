"""Which fleets an event is about. The clock's tick is about all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fleet.reserved.observed import FleetDeployment

if TYPE_CHECKING:
    from lambdas.capacity_watch.ec2 import Ec2Nodes

SPOT_WARNING: Final = "EC2 Spot Instance Interruption Warning"
QUEUE_BLOCKED: Final = "Batch Job Queue Blocked"
LAUNCH_FAILED: Final = "EC2 Instance Launch Unsuccessful"


@dataclass(frozen=True, slots=True)
class Wake:
    """The fleets to look at, and the instances among theirs that EC2 takes back."""

    places: tuple[FleetDeployment, ...]
    interrupted: tuple[str, ...] = ()


def wake(event: Mapping[str, Any], places: Sequence[FleetDeployment], nodes: "Ec2Nodes") -> Wake:
    """What ``event`` asks to be looked at; nothing when it is about somebody else's resources."""
    detail = event.get("detail") or {}
    match event.get("detail-type"):
        case kind if kind == SPOT_WARNING:
            return _interrupted(str(detail["instance-id"]), places, nodes)
        case kind if kind == QUEUE_BLOCKED:
            return Wake(tuple(place for place in places if place.queue == detail["jobQueue"]))
        case kind if kind == LAUNCH_FAILED:
            return Wake(tuple(p for p in places if p.auto_scaling_group == detail["AutoScalingGroupName"]))
    return Wake(tuple(places))


def _interrupted(instance_id: str, places: Sequence[FleetDeployment], nodes: "Ec2Nodes") -> Wake:
    of = nodes.fleet_of(instance_id)
    return Wake(tuple(place for place in places if (place.environment, place.fleet) == of), (instance_id,))
