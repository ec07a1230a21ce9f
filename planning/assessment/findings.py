"""What an answer means for the migration: a risk, with its remedy."""

from collections.abc import Iterator
from dataclasses import dataclass

from planning.assessment.workload import Change, Inputs, Risk, Workload

SHORTEST_MONTHS = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that raises the risk to ``risk`` at least, and what to do about it. ``stops``: not now."""

    topic: str
    risk: Risk
    what: str
    remedy: str
    stops: bool = False


def findings(workload: Workload) -> Iterator[Finding]:
    """What is known to make it harder."""
    yield from _operators(workload)
    yield from _shapes(workload)
    if workload.architecture_changes is Change.WEEKLY:
        yield Finding(
            "fit",
            Risk.HIGH,
            "its architecture changes every week, and each change compiles for 10 to 60 minutes",
            "stay on GPUs until it settles",
            stops=True,
        )
    elif workload.architecture_changes is Change.MONTHLY:
        yield Finding(
            "fit",
            Risk.MEDIUM,
            "its architecture changes every month",
            "compile in a pipeline, ahead of each deployment",
        )
    if workload.months_left is not None and workload.months_left < SHORTEST_MONTHS:
        yield Finding(
            "fit",
            Risk.HIGH,
            f"it is needed for {workload.months_left:g} more months",
            f"leave it: in less than {SHORTEST_MONTHS:g} months a migration does not pay",
            stops=True,
        )
    if workload.outputs_tested is False:
        yield Finding(
            "fit",
            Risk.MEDIUM,
            "nothing tells whether two versions answer alike",
            "first make a test set and compare logits, not only decoded tokens",
        )


def _operators(workload: Workload) -> Iterator[Finding]:
    operators = workload.operators
    if operators.custom_kernels:
        yield Finding(
            "operators",
            Risk.HIGH,
            "it has CUDA or Triton kernels of its own",
            "replace them by operators that Neuron has, or write them again for it; neither is a small task",
            stops=True,
        )
    if operators.sparse_tensors:
        yield Finding("operators", Risk.HIGH, "it relies on sparse tensors", "stay on GPUs", stops=True)
    if operators.quantized:
        yield Finding(
            "operators",
            Risk.HIGH,
            "its weights are quantized in a format of GPUs (GPTQ, AWQ, GGUF)",
            "start again from bf16 weights and measure memory and quality anew",
        )
    if operators.flash_attention:
        yield Finding(
            "operators",
            Risk.MEDIUM,
            "it imports flash_attn",
            "switch the attention implementation to Neuron's; the architecture stays",
        )
    if operators.all_supported is False:
        yield Finding(
            "operators",
            Risk.HIGH,
            "an operator is not in Neuron's list, or compilation failed",
            "find what stands in for it before anything is budgeted",
            stops=True,
        )


def _shapes(workload: Workload) -> Iterator[Finding]:
    shapes = workload.shapes
    if shapes.inputs is Inputs.VARIABLE:
        yield Finding(
            "shapes",
            Risk.MEDIUM,
            "its inputs have any length: each new shape compiles again",
            "pad to a few buckets, such as 128, 256, 512, 1024 and 2048 tokens, and compile each of them ahead",
        )
    if shapes.control_flow_on_tensors:
        yield Finding(
            "shapes",
            Risk.MEDIUM,
            "Python branches on values that the model computes: only one branch is compiled, without a word",
            "write them as torch.where, or take them out of the model",
        )
