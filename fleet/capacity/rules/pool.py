"""What a fleet that runs in a pool of the platform's own may ask for."""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse
from fleet.instances import InstanceType, UnknownInstanceTypeError, instance_type

# All of a job's containers are started within one look at the pool, and a job's record is one DynamoDB item of 400 KB.
MOST_NODES: Final = 100


def block_has_an_engine(case: Case) -> Iterator[Diagnostic]:
    """The Capacity Block engine drains jobs and scales nodes through AWS Batch."""
    if case.is_pool and case.is_block:
        yield refuse(
            "pool-in-capacity-block",
            "engine",
            "pool",
            "Capacity Blocks are looked after through AWS Batch",
            "remove engine, or use another market",
        )


def pool_can_be_started_at_once(case: Case) -> Iterator[Diagnostic]:
    """A job starts on all of its nodes or on none."""
    if case.is_pool and case.spec.nodes > MOST_NODES:
        yield refuse(
            "pool-too-large",
            "nodes",
            case.spec.nodes,
            f"a pool has {MOST_NODES} nodes at most",
            "make two fleets of it, or use engine: batch",
        )


def alternatives_are_alike(case: Case) -> Iterator[Diagnostic]:
    """A job's ranks are laid out for one number of cores and one memory, and EFA traffic stays in its zone."""
    if not case.is_pool:
        return
    for index, name in enumerate(case.spec.alternative_types):
        try:
            alternative = instance_type(name)
        except UnknownInstanceTypeError:
            # Said by the rules for alternatives.
            continue
        if not alternative.is_neuron:
            continue
        path = f"alternative_types[{index}]"
        if _shape(alternative) != _shape(case.known):
            yield refuse(
                "alternative-of-another-shape",
                path,
                name,
                f"{name} has other devices than {case.known.name}: a job for one does not run on the other",
                "use types with the same devices, as trn1.32xlarge and trn1n.32xlarge are",
            )
        elif alternative.availability_zone_ids & set(case.spec.fallback_zone_ids) and not _is_offered(
            case, alternative
        ):
            yield refuse(
                "alternative-not-in-zone",
                path,
                name,
                f"{name} is not offered in {', '.join(case.spec.zone_ids)}, and a pool lies in one zone",
                "remove it, or move the fleet to a zone that offers all of its types",
            )


def _is_offered(case: Case, alternative: InstanceType) -> bool:
    return bool(alternative.availability_zone_ids & set(case.spec.zone_ids))


def _shape(known: InstanceType) -> tuple[int, str]:
    return known.devices, known.accelerator.model


RULES: Final[tuple[Rule, ...]] = (block_has_an_engine, pool_can_be_started_at_once, alternatives_are_alike)
