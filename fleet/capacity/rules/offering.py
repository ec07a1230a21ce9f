"""Is the type one that this project runs, and is it offered where it is asked for?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.capacity.zones import offering_zones, zone_id_prefix
from fleet.diagnostics import Diagnostic, note, refuse, warn


def is_neuron(case: Case) -> Iterator[Diagnostic]:
    """GPU types are in the catalogue to be compared with; nothing here installs their drivers."""
    if not case.known.is_neuron:
        yield refuse(
            "not-neuron",
            "instance_type",
            case.known.name,
            f"{case.known.name} has no Neuron devices",
            "choose a trn1, trn1n, trn2, trn2u or inf2 size",
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
    if case.known.family == "inf1":
        yield warn(
            "first-generation",
            "instance_type",
            case.known.name,
            "Inferentia (1) needs the Neuron driver pinned to 2.21: later drivers do not support it",
            "choose an inf2 size, or an image with that driver",
        )


def trains_on_trainium(case: Case) -> Iterator[Diagnostic]:
    """Amazon SageMaker offers inf2 for hosting and not for training; Neuron's training guides are for Trainium."""
    if case.is_training and case.known.is_neuron and case.known.family.startswith("inf"):
        yield warn(
            "training-on-inferentia",
            "instance_type",
            case.known.name,
            f"{case.known.name} is made for inference",
            "train on a trn1, trn1n, trn2 or trn2u size",
        )


RULES: Final[tuple[Rule, ...]] = (is_neuron, is_offered, is_current, trains_on_trainium)
