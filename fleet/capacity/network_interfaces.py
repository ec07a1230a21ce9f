"""Which network interfaces a node gets: both layouts of EFA over network cards, and when there is EFA at all.

And what a security group must allow so that the nodes in it reach each other over EFA.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import EfaLayout, FleetSpec, Purpose
from fleet.instances import InstanceType
from fleet.string_enum import StringEnum

EFA_VARIABLES: Final[Mapping[str, str]] = {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}
"""What containers on nodes with EFA are told: libfabric's EFA provider, with device memory access (Neuron
documentation). Without the first, collectives fall back to TCP."""


class InterfaceType(StringEnum):
    """EC2's names: ``efa`` carries IP and EFA traffic, ``efa-only`` EFA traffic alone, and has no IP address."""

    INTERFACE = "interface"
    EFA = "efa"
    EFA_ONLY = "efa-only"


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """One interface of a launch template."""

    network_card: int
    device: int
    kind: InterfaceType

    @property
    def addresses(self) -> int:
        """Private IP addresses that it takes from its subnet."""
        return 0 if self.kind is InterfaceType.EFA_ONLY else 1


PLAIN: Final = (NetworkInterface(network_card=0, device=0, kind=InterfaceType.INTERFACE),)


def uses_efa(spec: FleetSpec, known: InstanceType) -> bool:
    """As asked for; else where the type has it and the fleet trains on several nodes."""
    if spec.efa is not None:
        return spec.efa and bool(known.efa_interfaces)
    return bool(known.efa_interfaces) and spec.purpose is Purpose.TRAINING and spec.nodes > 1


def network_interfaces(known: InstanceType, layout: EfaLayout = EfaLayout.EFA) -> tuple[NetworkInterface, ...]:
    """One EFA interface on every network card of the type, which must have EFA."""
    return tuple(_one_address(known) if layout is EfaLayout.EFA_ONLY else _efa_everywhere(known))


def _efa_everywhere(known: InstanceType) -> Iterator[NetworkInterface]:
    """As the Neuron documentation and AWS's own trn2 template (aws-neuron-eks-samples) lay them out.

    Card 0 holds the primary interface at device 0. Further cards use device 1, because device 0 of an instance is
    its primary interface; a card with room for a single interface has only device 0 (AWS ParallelCluster's rule).
    """
    further = 0 if known.enis_per_card == 1 else 1
    for card in range(known.efa_interfaces):
        yield NetworkInterface(network_card=card, device=further if card else 0, kind=InterfaceType.EFA)


def _one_address(known: InstanceType) -> Iterator[NetworkInterface]:
    """As the EC2 user guide lays them out (EFA on accelerated instance types): one IP address for the whole node.

    An ``efa-only`` interface cannot be the primary one, so card 0 holds two interfaces; every Neuron type with EFA
    has room for two on a card. AWS shows this layout for GPU types, not for Trainium: it is untested there.
    """
    yield NetworkInterface(network_card=0, device=0, kind=InterfaceType.INTERFACE)
    for card in range(known.efa_interfaces):
        yield NetworkInterface(network_card=card, device=0 if card else 1, kind=InterfaceType.EFA_ONLY)


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
