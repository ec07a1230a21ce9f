"""The shape of a job file: what a team writes down of one training job. Frozen, and every unknown key is an error.

Whether the fleet can run it is not judged here but by ``fleet.jobs``; its rules name the same keys.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.explain import Vocabulary, explain
from environments.reading import read_mapping
from fleet.diagnostics import Diagnostic
from fleet.jobs import Parallel
from planning.sizing.workload import Checkpointing, Dtype, Optimizer

EXAMPLE: Final = "examples/pretraining/job.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Split(_Part):
    """Degrees of parallelism; their product is the number of ranks."""

    tensor: int = 1
    pipeline: int = 1
    data: int | None = None
    """Default: whatever the others leave."""

    def parallel(self) -> Parallel:
        """As the domain has it."""
        return Parallel(self.tensor, self.pipeline, self.data)


class Checkpoint(_Part):
    """Where checkpoints go, and how often."""

    location: str
    every_steps: int | None = None
    every_minutes: float | None = None


class Model(_Part):
    """What is trained, as far as memory depends on it: a Hugging Face config.json, or a count and a shape."""

    config: str | None = None
    """A path, seen from the job file."""
    parameters: float | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    vocabulary: int = 0
    context: Annotated[int, Field(ge=1)] = 4096
    """Tokens of a sequence."""
    micro_batch: Annotated[int, Field(ge=1)] = 1
    """Sequences that a rank works on at once."""
    dtype: Literal["bf16", "fp16", "fp32"] = Dtype.BF16.value
    optimizer: Optimizer = Optimizer.ADAMW
    checkpointing: Checkpointing = Checkpointing.SELECTIVE
    """Which activations are computed again."""
    zero1: bool = True
    master_weights: bool = True
    fp32_gradients: bool = True
    sequence_parallel: bool = True


class Compiled(_Part):
    """The artifact that must be ready before the job starts: `fleet cache warm --job` makes it."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    model_version: Annotated[str, Field(min_length=1, max_length=200)]
    sequence_lengths: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=64)]
    command: tuple[str, ...] = ()
    """A short run that needs every graph. Default: the job's own."""


class Measured(_Part):
    """A pace that somebody saw, and where."""

    basis: Literal["measured"]
    tokens_per_second: Annotated[float, Field(gt=0)]
    """Of the whole job."""
    source: Annotated[str, Field(min_length=1, max_length=200)]


class Assumed(_Part):
    """A pace that follows from the model's size and how well its tensor engines are thought to be used."""

    basis: Literal["assumed"]
    utilization_percent: Annotated[float, Field(gt=0, le=100)]


class JobFile(_Part):
    """One job."""

    environment: str | None = None
    """Default: the one that the command names."""
    fleet: str
    name: str
    owner: str
    nodes: int
    image: str | None = None
    """Default: the fleet's."""
    neuron_sdk: Annotated[str, Field(pattern=r"^\d{1,2}\.\d{1,3}(\.\d{1,3})?$")] | None = None
    framework: Literal["nxd-inference", "nxd-training", "torch-xla", "vllm", "jax"] | None = None
    command: tuple[str, ...]
    variables: dict[str, str] = {}
    parallel: Split = Split()
    cores_per_node: int | None = None
    """Logical cores of each node that it trains on. Default: all."""
    model: Model | None = None
    checkpoint: Checkpoint | None = None
    compiled: Compiled | None = None
    tokens_wanted: float | None = None
    throughput: Annotated[Measured | Assumed, Field(discriminator="basis")] | None = None
    longest_hours: float | None = None
    """Default: the fleet's."""
    priority: int | None = None
    """Among jobs of the same owner that wait."""


VOCABULARY: Final = Vocabulary(
    JobFile,
    {
        "parallel": Split,
        "checkpoint": Checkpoint,
        "compiled": Compiled,
        "model": Model,
        "measured": Measured,
        "assumed": Assumed,
    },
    EXAMPLE,
    {
        "command": "a list of words, such as [bash, train.sh]",
        "checkpoint": "a place, such as {location: s3://bucket/prefix}",
        "compiled": "an artifact, such as {model: meta/llama, model_version: r1, sequence_lengths: [4096]}",
        "parallel": "sizes, such as {tensor: 8, pipeline: 4}",
        "variables": "names and texts, such as {LOG_LEVEL: info}",
        "neuron_sdk": 'a Neuron SDK in quotes, such as "2.28"',
        "basis": "measured or assumed",
    },
)


def read(path: Path) -> JobFile | list[Diagnostic]:
    """The job in ``path``, or every mistake in its form."""
    content = read_mapping(path, example=EXAMPLE)
    if isinstance(content, Diagnostic):
        return [content]
    try:
        return JobFile.model_validate(content)
    except ValidationError as error:
        return explain(error, content, VOCABULARY)
