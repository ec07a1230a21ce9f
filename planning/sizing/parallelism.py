"""Parallel degrees: which ones a model can be split by, and how heads are padded and repeated to make them fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.instances import InstanceType
from planning.sizing.shape import ModelShape, SizingError
from planning.sizing.workload import Training, Workload


@dataclass(frozen=True, slots=True)
class Degrees:
    """Cores that share a layer (tensor), stages of layers (pipeline), and copies that share a batch (data)."""

    tensor: int
    pipeline: int = 1
    data: int = 1

    def __post_init__(self) -> None:
        """Refuse degrees below one.

        Raises:
            SizingError: A degree is not positive.
        """
        for name in ("tensor", "pipeline", "data"):
            if getattr(self, name) < 1:
                raise SizingError(f"{name}-parallel degree is {getattr(self, name)}; it must be at least 1")

    @property
    def cores_per_replica(self) -> int:
        """Logical cores that hold one copy of the model."""
        return self.tensor * self.pipeline

    @property
    def world_size(self) -> int:
        """Logical cores of all copies: workers of the job."""
        return self.cores_per_replica * self.data


@dataclass(frozen=True, slots=True)
class Heads:
    """Attention heads after padding, and key-value heads after repetition, over all tensor-parallel cores."""

    query: int
    kv: int
    is_padded: bool
    is_repeated: bool


def shard_heads(shape: ModelShape, tensor: int) -> Heads:
    """How inference splits heads over ``tensor`` cores: they never refuse, they pad.

    The rule of NxD Inference (``get_shardable_head_counts`` in its ``modules/attention/gqa.py``): attention heads are
    padded up to a multiple of the degree. Where key-value heads are fewer than the degree, or no multiple of it, they
    are repeated: up to the degree if that is a multiple of them (each core then holds one), else up to the attention
    heads, as if attention were not grouped at all. A model without grouping pads both alike.
    """
    query = -(-shape.heads // tensor) * tensor
    kv = shape.kv_heads
    if shape.kv_heads == shape.heads:
        kv = query
    elif shape.kv_heads % tensor:
        kv = tensor if tensor % shape.kv_heads == 0 else query
    return Heads(query, kv, is_padded=query != shape.heads, is_repeated=kv > shape.kv_heads != shape.heads)


def refusals(shape: ModelShape, degrees: Degrees, workload: Workload) -> tuple[str, ...]:
    """Why ``degrees`` cannot split the model for ``workload``; empty if they can.

    Layers have to divide into stages. Training has to divide heads as well: NxD Training pads them only where it is
    told to (``pad_model``, by default off), and repeats key-value heads by a whole number (``kv_replicator``).
    Inference is not split into stages by NxD Inference, and copies of it are separate processes, not a degree.
    """
    found = []
    if shape.layers % degrees.pipeline:
        found.append(f"{shape.layers} layers do not divide into {degrees.pipeline} pipeline stages")
    if not isinstance(workload, Training):
        if degrees.pipeline > 1:
            found.append("inference is not split into pipeline stages; use a tensor-parallel degree")
        if degrees.data > 1:
            found.append("a served model has no data-parallel degree; ask for more replicas")
        return tuple(found)
    if shape.heads % degrees.tensor:
        found.append(f"{shape.heads} attention heads do not divide by tensor-parallel degree {degrees.tensor}")
    elif shape.kv_heads % degrees.tensor and degrees.tensor % shape.kv_heads:
        found.append(
            f"{shape.kv_heads} key-value heads neither divide by tensor-parallel degree {degrees.tensor} "
            "nor repeat to it"
        )
    return tuple(found)


def nodes_for(degrees: Degrees, instance: InstanceType, cores: int) -> int | str:
    """Instances that ``degrees`` take with ``cores`` logical cores each, or why they cannot be laid out.

    A tensor-parallel group lies within one instance or fills whole ones: its collectives go over NeuronLink, or over
    EFA between instances, which inf2 and the small sizes do not have.
    """
    tensor = degrees.tensor
    if tensor > cores and tensor % cores:
        return f"tensor-parallel degree {tensor} does not fill whole instances of {cores} cores"
    if tensor <= cores and cores % tensor and degrees.world_size > tensor * (cores // tensor):
        return f"{cores} cores do not divide into tensor-parallel groups of {tensor}"
    nodes = -(-degrees.world_size // cores)
    if nodes > 1 and not instance.efa_interfaces:
        return f"{degrees.world_size} cores are {nodes} instances, and {instance.name} has no EFA to join them"
    return nodes


def inference_degrees(shape: ModelShape, instance: InstanceType, cores: int, most_nodes: int) -> Iterator[Degrees]:
    """Tensor-parallel degrees worth trying, the best first.

    Divisors of the instance's cores that divide the heads, the smallest first, because the rest of the instance then
    serves more copies; after them those that need padding, which spend memory on nothing; last whole instances.
    """
    divisors = [degree for degree in range(1, cores + 1) if cores % degree == 0]
    yield from (Degrees(degree) for degree in sorted(divisors, key=lambda each: (shape.heads % each != 0, each)))
    if instance.efa_interfaces:
        nodes = 2
        while nodes <= most_nodes:
            yield Degrees(cores * nodes)
            nodes *= 2


def training_degrees(shape: ModelShape, cores: int, nodes: int) -> Iterator[Degrees]:
    """Degrees that fill ``nodes`` instances of ``cores`` logical cores, the best first.

    Few stages first, because every stage adds a bubble; then few tensor-parallel cores, because every one adds traffic.
    """
    world = cores * nodes
    for pipeline in (stages for stages in range(1, min(shape.layers, world) + 1) if shape.layers % stages == 0):
        for tensor in (degree for degree in range(1, cores + 1) if cores % degree == 0):
            if world % (tensor * pipeline) == 0:
                yield Degrees(tensor, pipeline, world // (tensor * pipeline))
