"""Can nodes talk over EFA, and do they when they should?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.network_interfaces import uses_efa
from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import EfaLayout

_OF_THE_FIRST_CARD: Final = 2


def type_has_efa(case: Case) -> Iterator[Diagnostic]:
    """EC2 DescribeInstanceTypes, EfaInfo.MaximumEfaInterfaces: no inf2 size has one."""
    if case.spec.efa and not case.known.efa_interfaces:
        yield refuse(
            "no-efa", "efa", "true", f"{case.known.name} has no EFA", "remove efa, or choose a type that has it"
        )


def stays_in_one_zone(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide, Elastic Fabric Adapter, limitations: EFA traffic cannot cross Availability Zones."""
    if case.spec.efa and case.known.efa_interfaces and case.spans_zones:
        yield refuse(
            "efa-across-zones",
            "efa",
            "true",
            f"nodes lie in {', '.join(case.spec.zone_ids)}, and EFA traffic cannot cross zones",
            "remove efa, or train in one zone",
        )


def has_somebody_to_talk_to(case: Case) -> Iterator[Diagnostic]:
    """EFA connects nodes; within a node NeuronLink does."""
    if case.spec.efa and case.known.efa_interfaces and case.spec.nodes == 1:
        yield warn(
            "efa-alone",
            "efa",
            "true",
            "a fleet of one node has nobody to reach over EFA, and takes an address per network card",
            "remove efa, or ask for more nodes",
        )


def trains_over_efa(case: Case) -> Iterator[Diagnostic]:
    """Neuron documentation, multi-node training setup: collectives between nodes run over EFA, or fall back to TCP."""
    if not case.is_training or case.spec.nodes == 1 or not case.known.is_neuron:
        return
    if not case.known.efa_interfaces:
        yield warn(
            "training-without-efa",
            "instance_type",
            case.known.name,
            f"{case.known.name} has no EFA: {case.spec.nodes} nodes exchange gradients over TCP",
            "use one node, or a type with EFA: trn1.32xlarge, trn1n.32xlarge, any trn2 size",
        )
    elif case.spec.efa is False:
        yield warn(
            "efa-refused",
            "efa",
            "false",
            f"{case.spec.nodes} nodes exchange gradients over TCP, although {case.known.name} has EFA",
            "remove efa: it is used where the type has it",
        )


def layout_is_for_efa(case: Case) -> Iterator[Diagnostic]:
    """A layout describes network cards that carry EFA; without EFA there is one plain interface."""
    if case.spec.efa_layout is not EfaLayout.EFA and not uses_efa(case.spec, case.known):
        yield warn(
            "layout-without-efa",
            "efa_layout",
            case.spec.efa_layout,
            "the fleet does not use EFA: the layout changes nothing",
            "remove efa_layout",
        )


def layout_has_room(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide, EFA on accelerated types: an ``efa-only`` interface is never the primary one of its node."""
    only = case.spec.efa_layout is EfaLayout.EFA_ONLY and uses_efa(case.spec, case.known)
    if only and case.known.enis_per_card < _OF_THE_FIRST_CARD:
        yield refuse(
            "layout-without-room",
            "efa_layout",
            case.spec.efa_layout,
            f"the first card of {case.known.name} has room for {case.known.enis_per_card} interface, not for "
            f"{_OF_THE_FIRST_CARD}: one with the node's address, and one for EFA",
            "remove efa_layout",
        )


def layout_is_proven(case: Case) -> Iterator[Diagnostic]:
    """AWS shows ``efa-only`` layouts for GPU types, and its own Trainium templates use ``efa`` on every card."""
    if case.spec.efa_layout is EfaLayout.EFA_ONLY and uses_efa(case.spec, case.known):
        yield warn(
            "layout-unproven",
            "efa_layout",
            case.spec.efa_layout,
            f"AWS publishes no efa-only template for {case.known.name}: it follows from EC2's rules and is untested",
            "try one node first, or remove efa_layout if addresses are not short",
        )


RULES: Final[tuple[Rule, ...]] = (
    type_has_efa,
    stays_in_one_zone,
    has_somebody_to_talk_to,
    trains_over_efa,
    layout_is_for_efa,
    layout_has_room,
    layout_is_proven,
)
