"""Is the type one that this project runs, and is it offered where it is asked for?

And are the types to fall back to ones that could take the fleet's place?
"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.instance_facts import FILE
from fleet.instances import InstanceType, UnknownInstanceTypeError, catalogue, instance_type
from fleet.regions import offering_zones, zone_id_prefix


def is_neuron(case: Case) -> Iterator[Diagnostic]:
    """GPU types are in the catalogue to be compared with; nothing here installs their drivers."""
    if not case.known.is_neuron:
        yield refuse(
            "not-neuron",
            "instance_type",
            case.known.name,
            f"{case.known.name} has no Neuron devices",
            f"choose a {_listed(_families(trains=True) + _families(trains=False))} size",
        )


def is_offered(case: Case) -> Iterator[Diagnostic]:
    """EC2 DescribeInstanceTypeOfferings, by region and by zone id, as of the catalogue's offerings date."""
    spec, known = case.spec, case.known
    if spec.region not in known.regions:
        yield refuse(
            "not-in-region",
            "instance_type",
            known.name,
            f"{known.name} is not offered in {spec.region} (as of {known.offerings_as_of})",
            f"it is offered in {', '.join(sorted(known.regions))}",
        )
        return
    here = sorted(zone for zone in known.availability_zone_ids if zone.startswith(zone_id_prefix(spec.region)))
    offered = offering_zones(spec, known)
    if not offered:
        yield refuse(
            "not-in-zone",
            "availability_zone" if spec.availability_zone else "instance_type",
            spec.availability_zone or known.name,
            f"{known.name} is not offered in {', '.join(spec.zone_ids)} (as of {known.offerings_as_of})",
            f"in {spec.region} it is offered in {', '.join(here)}",
        )
    elif len(offered) < len(spec.zone_ids):
        without = ", ".join(zone for zone in spec.zone_ids if zone not in offered)
        yield note(
            "zones-left-out",
            "instance_type",
            known.name,
            f"{known.name} is not offered in {without} (as of {known.offerings_as_of}): its nodes lie in the others",
            f"in {spec.region} it is offered in {', '.join(here)}",
        )


def is_current(case: Case) -> Iterator[Diagnostic]:
    """Neuron documentation, announcement for release 2.26: drivers above 2.21 do not support Inf1."""
    chip = case.known.accelerator
    if chip.core is not None and chip.core.last_driver is not None:
        pinned = f"{chip.model} ({chip.core.generation}) needs the Neuron driver pinned to {chip.core.last_driver}"
        yield warn(
            "first-generation",
            "instance_type",
            case.known.name,
            f"{pinned}: later drivers do not support it",
            "choose an inf2 size, or an image with that driver",
        )


def trains_on_trainium(case: Case) -> Iterator[Diagnostic]:
    """Amazon SageMaker offers inf2 for hosting and not for training; Neuron's training guides are for Trainium."""
    if case.is_training and case.known.is_neuron and not case.known.accelerator.trains:
        yield warn(
            "training-on-inferentia",
            "instance_type",
            case.known.name,
            f"{case.known.name} is made for inference",
            f"train on a {_listed(_families(trains=True))} size",
        )


def facts_are_confirmed(case: Case) -> Iterator[Diagnostic]:
    """What the data file states without AWS's word for it is used, and said."""
    if case.known.unverified:
        yield warn(
            "facts-unverified",
            "instance_type",
            case.known.name,
            f"AWS has not confirmed what {FILE} states as {', '.join(case.known.unverified)}",
            "try one node first, and correct the file there",
        )


def _families(*, trains: bool) -> list[str]:
    """Those that new drivers support."""
    known = [each for each in catalogue().values() if each.accelerator.trains is trains]
    cores = {each.family: each.accelerator.core for each in known}
    return sorted(family for family, core in cores.items() if core is not None and core.last_driver is None)


def _listed(families: list[str]) -> str:
    return f"{', '.join(families[:-1])} or {families[-1]}"


RULES: Final[tuple[Rule, ...]] = (is_neuron, is_offered, is_current, trains_on_trainium, facts_are_confirmed)


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


ALTERNATIVES: Final[tuple[Rule, ...]] = (capacity_can_be_exchanged, alternatives_can_be_launched)
