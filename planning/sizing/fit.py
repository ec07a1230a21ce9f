"""Whether one model, split by given degrees, fits the cores of one instance type, and how much is left."""

from dataclasses import dataclass
from typing import Final

from fleet.instances import InstanceType
from planning.sizing.memory import Part, hbm_per_core, parts
from planning.sizing.parallelism import Degrees, Heads, nodes_for, refusals, shard_heads
from planning.sizing.shape import ModelShape, SizingError
from planning.sizing.workload import Training, Workload

# The parts leave out DMA rings, collectives, notifications, driver memory and scratchpad that NEFFs do not share; the
# driver counts them in sysfs (11 categories), neuron-monitor does not (5). No rule for them is published. What is:
# the runtime's own account of Llama 3 70B that did not load on inf2.24xlarge (aws-neuron/transformers-neuronx, thread
# 92, 2024-07): 13.17 GiB of tensors, and 0.48 of code, 1.47 of DMA rings with more to come, 0.37 of collectives and
# 0.5 of scratchpad on a core of 16 GiB. Beside tensors and activations that is over 15 %; OPT-13B on two cores, which
# the Neuron documentation calls sufficient, leaves 18 %. The sixth part lies between them. It is a rule of thumb:
# programs with many buckets took more (6.5 GiB of rings, thread 49, 2023-10), others less. `--headroom` changes it.
DEFAULT_HEADROOM: Final = 1 / 6


@dataclass(frozen=True, slots=True)
class Fit:
    """One model on one instance type. Bytes are those of the fullest logical core."""

    instance_type: str
    lnc: int
    degrees: Degrees
    instances: int
    """For all data-parallel copies together; 0 where the degrees cannot be laid out."""
    replicas_per_instance: int
    """Copies that one instance holds: 0 for a copy that needs several."""
    parts: tuple[Part, ...]
    hbm_bytes: int
    headroom_bytes: int
    heads: Heads
    reasons: tuple[str, ...]
    """Why it does not fit; empty: it does."""

    @property
    def fits(self) -> bool:
        """Whether it can be laid out and leaves the head-room free."""
        return not self.reasons

    @property
    def used_bytes(self) -> int:
        """All parts together."""
        return sum(part.bytes for part in self.parts)

    @property
    def free_bytes(self) -> int:
        """What is left beside the parts and the head-room; below zero: so much is missing."""
        return self.hbm_bytes - self.headroom_bytes - self.used_bytes


def check(
    shape: ModelShape,
    workload: Workload,
    instance: InstanceType,
    degrees: Degrees,
    *,
    lnc: int | None = None,
    headroom: float = DEFAULT_HEADROOM,
) -> Fit:
    """Does the model, split by ``degrees``, fit instances of that type?

    Raises:
        SizingError: The type has no NeuronCores, does not know the LNC, the head-room is no share of the memory, or
            the context is longer than a model with learned positions has.
    """
    grouped = grouping(instance, lnc)
    if not 0 <= headroom < 1:
        raise SizingError(f"headroom is {headroom}; it must be a share of the memory, 0 or more and below 1")
    if shape.has_learned_positions and workload.context > (shape.max_context or workload.context):
        raise SizingError(f"context is {workload.context}; {shape.name} has {shape.max_context} positions")
    cores = instance.logical_cores(grouped)
    nodes = nodes_for(degrees, instance, cores)
    held = parts(shape, workload, degrees, grouped)
    hbm = hbm_per_core(instance, grouped)
    spare = round(hbm * headroom)
    reasons = list(refusals(shape, degrees, workload))
    if isinstance(workload, Training) and not instance.accelerator.trains:
        reasons.append(f"{instance.name} serves; Neuron trains on Trainium")
    if isinstance(nodes, str):
        reasons.append(nodes)
    missing = sum(part.bytes for part in held) + spare - hbm
    if missing > 0:
        reasons.append(f"{missing / 1e9:.2f} GB missing on each core of {hbm / 1e9:.2f} GB")
    return Fit(
        instance_type=instance.name,
        lnc=grouped,
        degrees=degrees,
        instances=0 if isinstance(nodes, str) else nodes,
        replicas_per_instance=cores // degrees.cores_per_replica,
        parts=held,
        hbm_bytes=hbm,
        headroom_bytes=spare,
        heads=shard_heads(shape, degrees.tensor),
        reasons=tuple(reasons),
    )


def grouping(instance: InstanceType, lnc: int | None) -> int:
    """Physical cores of a logical one: ``lnc``, or what the chip is set to by itself.

    Raises:
        SizingError: The type has no NeuronCores that split models, or does not know the LNC.
    """
    core = instance.accelerator.core
    if core is None:
        raise SizingError(f"{instance.name} has {instance.accelerator.model}, not NeuronCores")
    if not core.splits_models:
        raise SizingError(
            f"{instance.name} has NeuronCore-{core.version}, which does not split models; size for inf2, trn1 or trn2"
        )
    known = instance.accelerator.lnc_supported
    if lnc is not None and lnc not in known:
        raise SizingError(f"{instance.name} runs at LNC {' or '.join(map(str, known))}, not {lnc}")
    return lnc or instance.accelerator.default_lnc
