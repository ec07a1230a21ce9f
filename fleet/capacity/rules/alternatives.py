"""Are the types to fall back to ones that could take the fleet's place?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.instances import InstanceType, UnknownInstanceTypeError, instance_type


def capacity_can_be_exchanged(case: Case) -> Iterator[Diagnostic]:
    """Reserved capacity is of one type; AWS Batch and a group with one launch template launch one type, in its zones.

    A pool tries them all.
    """
    spec = case.spec
    if not spec.alternative_types:
        return
    if spec.market in (MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK):
        yield refuse(
            "alternatives-of-a-reservation",
            "alternative_types",
            ", ".join(spec.alternative_types),
            f"reserved capacity is {case.known.name}, and nothing else can be launched from it",
            "remove alternative_types",
        )
        return
    if case.is_pool:
        return
    yield warn(
        "alternatives-not-tried",
        "alternative_types",
        ", ".join(spec.alternative_types),
        "AWS Batch and the nodes of an endpoint launch one type: alternatives are known and not tried",
        "change instance_type when its capacity cannot be had",
    )


def alternatives_can_be_launched(case: Case) -> Iterator[Diagnostic]:
    """Each exists, is another type than those before it, and has the chip's cores and memory that the job expects."""
    before = {case.known.name}
    for index, name in enumerate(case.spec.alternative_types):
        path = f"alternative_types[{index}]"
        if name in before:
            yield warn("alternative-repeated", path, name, f"{name} has been tried by then", "remove it")
            continue
        before.add(name)
        try:
            alternative = instance_type(name)
        except UnknownInstanceTypeError as error:
            yield refuse("alternative-unknown", path, name, error.what, error.fix)
            continue
        yield from _stands_in(case, alternative, path)


def _stands_in(case: Case, alternative: InstanceType, path: str) -> Iterator[Diagnostic]:
    name, zones = alternative.name, (*case.spec.zone_ids, *case.spec.fallback_zone_ids)
    if not alternative.is_neuron:
        yield refuse("alternative-not-neuron", path, name, f"{name} has no Neuron devices", "remove it")
    elif not alternative.availability_zone_ids & set(zones):
        yield refuse(
            "alternative-not-offered",
            path,
            name,
            f"{name} is not offered in {', '.join(zones)} (as of {alternative.offerings_as_of})",
            "remove it, or add a zone that offers it to network.availability_zones",
        )
    elif alternative.accelerator.neuroncore_version != case.known.accelerator.neuroncore_version:
        yield warn(
            "alternative-compiles-anew",
            path,
            name,
            f"{name} has other cores than {case.known.name}: every graph is compiled anew for it",
            "prefer a type with the same accelerator",
        )
    elif alternative.hbm_bytes < case.known.hbm_bytes:
        yield warn(
            "alternative-smaller",
            path,
            name,
            f"{name} has less accelerator memory than {case.known.name}: the job may not fit",
            "prefer a type of the same size",
        )


RULES: Final[tuple[Rule, ...]] = (capacity_can_be_exchanged, alternatives_can_be_launched)
