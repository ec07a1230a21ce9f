"""What a model is to do: serve, or be trained, and with which data types and memory-saving methods."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from planning.sizing.shape import SizingError


class Dtype(StrEnum):
    """Data types by the names of the Neuron compiler and of PyTorch."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP32 = "fp32"
    FP8 = "fp8"
    INT8 = "int8"

    @property
    def bytes(self) -> int:
        """Bytes of one number."""
        return _BYTES[self]


_BYTES: Final = {Dtype.BF16: 2, Dtype.FP16: 2, Dtype.FP32: 4, Dtype.FP8: 1, Dtype.INT8: 1}


_MOST: Final = 10**9
"""Tokens or sequences that anybody asks for."""


class Optimizer(StrEnum):
    """Optimizers by what they keep of each parameter."""

    ADAMW = "adamw"
    LAMB = "lamb"
    SGD = "sgd"

    @property
    def states(self) -> int:
        """Numbers that it keeps of each parameter: Adam and LAMB two moments, SGD its momentum."""
        return 1 if self is Optimizer.SGD else 2


class Checkpointing(StrEnum):
    """Which activations are computed again in the backward pass instead of being kept."""

    NONE = "none"
    SELECTIVE = "selective"
    """Softmax and attention are; so are they with flash attention, which never writes them down."""
    FULL = "full"
    """Everything is, from the input of each layer."""


@dataclass(frozen=True, slots=True)
class Inference:
    """Serving: ``batch`` sequences of up to ``context`` tokens, prompt and answer together, held at once."""

    context: int
    batch: int = 1
    dtype: Dtype = Dtype.BF16
    """Of the weights."""
    kv_dtype: Dtype = Dtype.BF16
    prefill_batch: int = 1
    """Prompts that are encoded together; NxD Inference encodes one at a time (``ctx_batch_size``) by habit."""

    def __post_init__(self) -> None:
        """Refuse counts below one.

        Raises:
            SizingError: Context, batch or prompts encoded together is not positive.
        """
        _refuse_less_than_one(context=self.context, batch=self.batch, prefill_batch=self.prefill_batch)


@dataclass(frozen=True, slots=True)
class Training:
    """Training with mixed precision, on micro-batches of ``micro_batch`` sequences of ``context`` tokens."""

    context: int
    micro_batch: int = 1
    dtype: Dtype = Dtype.BF16
    optimizer: Optimizer = Optimizer.ADAMW
    has_master_weights: bool = True
    """A copy of the weights in FP32 with the optimizer."""
    has_fp32_gradients: bool = True
    """Gradients are summed up in FP32."""
    zero1: bool = True
    """Optimizer states and master weights are split over the data-parallel replicas."""
    checkpointing: Checkpointing = Checkpointing.SELECTIVE
    sequence_parallel: bool = True

    def __post_init__(self) -> None:
        """Refuse counts below one and data types that cannot be trained in.

        Raises:
            SizingError: Context or micro-batch is not positive, or the data type has less than 16 bits.
        """
        _refuse_less_than_one(context=self.context, micro_batch=self.micro_batch)
        if self.dtype.bytes < 2:
            raise SizingError(f"weights are not trained in {self.dtype}; use bf16, fp16 or fp32")


Workload = Inference | Training


def _refuse_less_than_one(**counts: int) -> None:
    for name, count in counts.items():
        if not 1 <= count <= _MOST:
            raise SizingError(f"{name.replace('_', ' ')} is {count}; it must be at least 1, and at most {_MOST:,}")
