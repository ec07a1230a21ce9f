"""Accelerator memory of the core that holds most of a model, part by part, each with the formula it comes from.

What is exact: weights, gradients, optimizer states, key-value cache; they are tensors that the program declares. What
is an estimate: activations, because the compiler decides which of them live in HBM at once (scratchpad). Norm weights,
which every core holds whole, are counted as split: they are under a thousandth of a model.
"""

from dataclasses import dataclass
from typing import Final

from fleet.instances import InstanceType
from planning.sizing.parallelism import Degrees, shard_heads
from planning.sizing.shape import ModelShape
from planning.sizing.workload import Checkpointing, Dtype, Inference, Training, Workload

# "A micro-code overhead of 96MB per physical Neuron Core": Neuron documentation, Neuron Device Memory.
MICRO_CODE_BYTES: Final = 96 * 1024**2
# Activations are computed in BF16 also where weights are kept in one byte.
_LEAST_ACTIVATION_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of one logical core."""

    name: str
    bytes: int
    formula: str


def hbm_per_core(instance: InstanceType, lnc: int) -> int:
    """Bytes of HBM that each logical core of ``lnc`` physical ones can count on, its device's memory shared equally."""
    return instance.accelerator.memory_bytes * lnc // instance.accelerator.cores


def parts(shape: ModelShape, workload: Workload, degrees: Degrees, lnc: int) -> tuple[Part, ...]:
    """Everything that one logical core holds."""
    code = Part("model code", MICRO_CODE_BYTES * lnc, "96 MiB x physical cores of the logical core")
    if isinstance(workload, Inference):
        return (*_inference(shape, workload, degrees.tensor), code)
    return (*_training(shape, workload, degrees), code)


def stage_parameters(shape: ModelShape, degrees: Degrees) -> float:
    """Parameters that one core holds, in the fullest pipeline stage, padded and repeated heads included.

    (parameters + padding) / tensor. With stages: (layer parameters / stages + one embedding matrix) / tensor; the
    first stage holds the input matrix and the last the output matrix.
    """
    heads = shard_heads(shape, degrees.tensor)
    padding = shape.query_parameters * (heads.query / shape.heads - 1) + shape.kv_parameters * (
        heads.kv / shape.kv_heads - 1
    )
    if degrees.pipeline == 1:
        return (shape.parameters + padding) / degrees.tensor
    in_layers = (shape.layer_parameters + padding) / degrees.pipeline
    return (in_layers + shape.embedding_parameters) / degrees.tensor


def _inference(shape: ModelShape, workload: Inference, tensor: int) -> tuple[Part, ...]:
    """Weights, key-value cache and the working set of a prompt.

    Cache: 2 (keys and values) x layers x key-value heads of a core x head size x tokens x sequences x bytes; the
    Neuron calculator of the Neuron documentation has it as batch x layers x tokens x embedding x 2 x bytes, which is
    the same without grouped heads. Working set of a prompt (estimate; the Neuron documentation says of scratchpad
    "for an inference kernel ... usually determined by the size of hidden states"): four hidden states that tensor
    parallelism does not split (residual, norm, attention out, feed-forward out), the heads and the gate and up
    projections that it does, of one layer, and the logits of one token a sequence in FP32.
    """
    heads = shard_heads(shape, tensor)
    weights = stage_parameters(shape, Degrees(tensor)) * workload.dtype.bytes
    per_token = 4 * shape.hidden + (heads.query + 2 * heads.kv) * shape.head_dim / tensor
    per_token += 2 * shape.active_intermediate / tensor
    width = _activation_bytes(workload.dtype)
    logits = 4 * workload.batch * shape.vocabulary / tensor
    # An encoder has no other step than this one: it takes the whole batch.
    together = workload.prefill_batch if shape.is_decoder else max(workload.batch, workload.prefill_batch)
    prompt = width * workload.context * together * per_token + logits
    of_tokens = "tokens x (4 x hidden + (heads + gate and up) / tensor)"
    found = [
        Part("weights", round(weights), f"parameters x {workload.dtype.bytes} B / {tensor}"),
        Part("activations", round(prompt), f"{of_tokens} x {width} B + logits"),
    ]
    if shape.is_decoder:
        of_core = heads.kv // tensor
        tokens = workload.context * workload.batch
        cache = 2 * shape.layers * of_core * shape.head_dim * tokens * workload.kv_dtype.bytes
        formula = f"2 x {shape.layers} layers x {of_core} heads x {shape.head_dim} x {tokens} tokens"
        found.insert(1, Part("kv cache", cache, f"{formula} x {workload.kv_dtype.bytes} B"))
    return tuple(found)


def _training(shape: ModelShape, workload: Training, degrees: Degrees) -> tuple[Part, ...]:
    """Weights, gradients, optimizer and activations.

    Mixed precision after ZeRO (Rajbhandari et al. 2019, section 3.1): weights and gradients in 16 bits, and 12 bytes
    a parameter in the optimizer (FP32 master weight, momentum, variance); stage 1 splits those 12 over the replicas.
    The Neuron documentation (Standard Mixed Precision) keeps master weights and sums gradients in FP32 with ZeRO-1.
    """
    held = stage_parameters(shape, degrees)
    width = workload.dtype.bytes
    gradient = max(width, 4 if workload.has_fp32_gradients else 0)
    split = degrees.data if workload.zero1 else 1
    over = f" / {split} replicas" if split > 1 else ""
    states = workload.optimizer.states
    found = [
        Part("weights", round(held * width), f"parameters of the core x {width} B"),
        Part("gradients", round(held * gradient), f"parameters of the core x {gradient} B"),
        Part("optimizer states", round(held * 4 * states / split), f"parameters of the core x {states} x 4 B{over}"),
    ]
    if workload.has_master_weights and workload.dtype is not Dtype.FP32:
        found.append(Part("master weights", round(held * 4 / split), f"parameters of the core x 4 B{over}"))
    return (*found, _training_activations(shape, workload, degrees))


def _training_activations(shape: ModelShape, workload: Training, degrees: Degrees) -> Part:
    """Activations between forward and backward pass, in 16 bits.

    Korthikanti et al. 2022 ("Reducing Activation Recomputation in Large Transformer Models"), as the Neuron
    documentation has it (Activation Memory Reduction): with s tokens, b sequences, h hidden, a heads, t tensor
    parallel, a layer keeps sbh (10 + 24/t + 5as/(ht)); sequence parallelism splits the 10 by t too; selective
    checkpointing drops the last term; full checkpointing keeps 2sbh (split by t with sequence parallelism) and works
    one layer at a time. The first of p pipeline stages has p micro-batches under way (1F1B), so it keeps as many
    layers as one stage alone would. Logits: 4sbv/t. The 34 (10 + 24) is derived for a feed-forward part of 4h.
    """
    tokens = workload.context * workload.micro_batch
    sbh, tensor = tokens * shape.hidden, degrees.tensor
    unsplit = tensor if workload.sequence_parallel else 1
    linear = sbh * (10 / unsplit + 24 / tensor)
    quadratic = 5 * shape.heads * workload.context * tokens / tensor
    logits = 4 * tokens * shape.vocabulary / tensor
    scale = _activation_bytes(workload.dtype) // 2
    # Of what sequence parallelism does not split, the division by t below takes away too much.
    each = tensor // unsplit
    whole = f"{10 * each + 24}"
    if workload.checkpointing is Checkpointing.FULL:
        kept = shape.layers * 2 * sbh / unsplit + linear + quadratic
        formula = f"layers x {2 * each}sbh + one layer of sbh ({whole} + 5as/h)"
    elif workload.checkpointing is Checkpointing.SELECTIVE:
        kept, formula = shape.layers * linear, f"layers x {whole}sbh"
    else:
        kept, formula = shape.layers * (linear + quadratic), f"layers x sbh ({whole} + 5as/h)"
    formula = formula if scale == 1 else f"{scale} x ({formula})"
    return Part("activations", round(kept * scale + logits), f"({formula} + 4sbv) / {tensor}")


def _activation_bytes(dtype: Dtype) -> int:
    return max(dtype.bytes, _LEAST_ACTIVATION_BYTES)
