"""Which pools an event is about, and what agents tell of their nodes in it. The clock's tick is about all of them."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from fleet.hardware_errors import Action
from fleet.node_state import NodeState
from fleet.pool.observed import Fault, PoolDeployment

# What asks for nothing but a look at somebody else.
_WEAK: Final = frozenset({Action.NONE.value, Action.LOOK_AT_PEERS.value})


@dataclass(frozen=True, slots=True)
class Wake:
    """The pools to look at, and the faults of their nodes, by fleet."""

    places: tuple[PoolDeployment, ...]
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)


def wake(event: Mapping[str, Any], places: Sequence[PoolDeployment], now: datetime) -> Wake:
    """What ``event`` asks to be looked at; nothing when it is about somebody else's resources."""
    if "awslogs" in event:
        return _told(event["awslogs"]["data"], places, now)
    detail = event.get("detail") or {}
    if "clusterArn" in detail:
        return Wake(tuple(each for each in places if detail["clusterArn"].endswith(f":cluster/{each.cluster}")))
    if "AutoScalingGroupName" in detail:
        return Wake(tuple(each for each in places if each.group == detail["AutoScalingGroupName"]))
    return Wake(tuple(places))


def _told(data: str, places: Sequence[PoolDeployment], now: datetime) -> Wake:
    """Node events that a subscription filter lets through: gzip in base64 (CloudWatch Logs user guide)."""
    content = json.loads(gzip.decompress(base64.b64decode(data)))
    # CloudWatch Logs asks now and then whether there is somebody: what that says is no event.
    lines = [] if content.get("messageType") == "CONTROL_MESSAGE" else content.get("logEvents", [])
    known = {each.fleet: each for each in places}
    faults: dict[str, list[Fault]] = {}
    for line in lines:
        event = json.loads(line["message"])
        place = known.get(event.get("fleet", ""))
        if place is not None and event.get("environment") == place.environment and _is_fault(event):
            # The time at which it was heard: an agent that was cut off sends old minutes later, and they are old.
            at = min(now, datetime.fromisoformat(event["minute"]))
            faults.setdefault(place.fleet, []).append(Fault(str(event["node"]), _reason(event), at))
    return Wake(tuple(known[fleet] for fleet in faults), {fleet: tuple(told) for fleet, told in faults.items()})


def _is_fault(event: Mapping[str, Any]) -> bool:
    """Whether the node's state is FAULT for an error that asks for something; it stays so until the node boots."""
    if event.get("state") != NodeState.FAULT.value:
        return False
    actions = [each.get("action") for each in event.get("hardware_errors") or ()]
    return not actions or any(action not in _WEAK for action in actions)


def _reason(event: Mapping[str, Any]) -> str:
    gate = [each for each in event.get("problems") or () if each.startswith("the health gate holds")]
    return (gate[0] if gate else str(event.get("state_reason") or "its agent reports a fault"))[:300]
