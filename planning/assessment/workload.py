"""What is asked of a workload, and the matrix that its kind is looked up in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final


class Risk(IntEnum):
    """How likely the migration fails or takes long."""

    LOW = 0
    LOW_TO_MEDIUM = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def words(self) -> str:
        """As it reads."""
        return self.name.lower().replace("_", " ")


class WorkloadKind(StrEnum):
    """The rows of the matrix, and the serving of language models, which it leaves out."""

    ENCODER = "encoder"
    LLAMA_FINE_TUNING = "llama-fine-tuning"
    SMALL_DECODER = "small-decoder"
    LLM_SERVING = "llm-serving"
    DIFFUSION = "diffusion"
    JAX = "jax"
    CUSTOM_CUDA = "custom-cuda"
    RESEARCH = "research"


class Inputs(StrEnum):
    """How the lengths of inputs vary."""

    FIXED = "fixed"
    BUCKETED = "bucketed"
    VARIABLE = "variable"


class Change(StrEnum):
    """How often the model's architecture changes."""

    SELDOM = "seldom"
    MONTHLY = "monthly"
    WEEKLY = "weekly"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One row: ``promised`` is the saving that the guide quotes, without figures behind it."""

    words: str
    risk: Risk
    promised: str
    migrates: bool = True


MATRIX: Final[Mapping[WorkloadKind, MatrixRow]] = {
    WorkloadKind.ENCODER: MatrixRow("BERT and embedding models", Risk.LOW, "35-45 %"),
    WorkloadKind.SMALL_DECODER: MatrixRow("GPT-2 and smaller encoder-decoders", Risk.LOW, "35-40 %"),
    WorkloadKind.LLAMA_FINE_TUNING: MatrixRow("Llama-family fine-tuning", Risk.LOW_TO_MEDIUM, "38-50 %"),
    WorkloadKind.LLM_SERVING: MatrixRow("serving of a supported language model", Risk.LOW_TO_MEDIUM, "30-45 %"),
    WorkloadKind.DIFFUSION: MatrixRow("Stable Diffusion", Risk.MEDIUM, "30-40 %"),
    WorkloadKind.JAX: MatrixRow("JAX and Flax models", Risk.MEDIUM, "35-45 %"),
    WorkloadKind.CUSTOM_CUDA: MatrixRow("a custom architecture with CUDA operators", Risk.HIGH, "40-55 %"),
    WorkloadKind.RESEARCH: MatrixRow("a research prototype", Risk.HIGH, "variable", migrates=False),
}


@dataclass(frozen=True, slots=True)
class Operators:
    """What the model calls that a compiler may not know. None: nobody has looked."""

    custom_kernels: bool | None = None
    """CUDA or Triton kernels of one's own."""
    flash_attention: bool | None = None
    """Imports of ``flash_attn``."""
    quantized: bool | None = None
    """Weights in GPTQ, AWQ or GGUF."""
    sparse_tensors: bool | None = None
    all_supported: bool | None = None
    """Whether every operator was found in Neuron's list, or the model was compiled."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """What varies from one batch to the next. None: nobody has looked."""

    inputs: Inputs | None = None
    control_flow_on_tensors: bool | None = None
    """Python ``if`` and ``while`` on values that the model computes."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One model in use. ``monthly_usd`` is what its accelerators cost now."""

    name: str
    kind: WorkloadKind
    owner: str = ""
    monthly_usd: float | None = None
    architecture_changes: Change | None = None
    months_left: float | None = None
    """How long the workload will still be needed."""
    outputs_tested: bool | None = None
    """Whether a test set tells that two versions answer alike."""
    operators: Operators = field(default_factory=Operators)
    shapes: Shapes = field(default_factory=Shapes)


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """A team's answers."""

    team: str
    workloads: tuple[Workload, ...]
    engineer_week_usd: float | None = None
