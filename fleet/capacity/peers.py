"""What a security group must allow so that the nodes in it reach each other over EFA."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fleet.diagnostics import Diagnostic, refuse
from fleet.string_enum import StringEnum

ALL_TRAFFIC: Final = "-1"


class Direction(StringEnum):
    """Seen from the members of the group."""

    IN = "ingress"
    OUT = "egress"


@dataclass(frozen=True, slots=True)
class GroupRule:
    """One rule of a security group: ``peer`` is another group's id, or an address range."""

    direction: Direction
    protocol: str
    peer: str


def diagnose_peers(group: str, rules: Iterable[GroupRule]) -> Iterator[Diagnostic]:
    """Errors for each direction in which members cannot send all traffic to each other.

    EC2 user guide, EFA: the group must allow all traffic from and to itself. EFA traffic has no IP addresses, so
    egress to 0.0.0.0/0 does not cover it (open-mpi/ompi issue 6795).
    """
    allowed = {(rule.direction, rule.peer) for rule in rules if rule.protocol == ALL_TRAFFIC}
    for direction in Direction:
        if (direction, group) not in allowed:
            yield refuse(
                f"efa-no-{direction}-of-peers",
                "security_group",
                group,
                f"{group} does not allow all {direction} traffic of its members: EFA falls back to TCP, or fails",
                f"add a rule: {direction}, protocol {ALL_TRAFFIC}, of the group itself",
            )
