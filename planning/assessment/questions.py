"""What nobody has answered yet, and how to find out."""

from collections.abc import Iterator
from dataclasses import dataclass

from planning.assessment.workload import Workload


@dataclass(frozen=True, slots=True)
class Question:
    """An answer that is missing; ``key`` is where it goes in the questionnaire."""

    topic: str
    key: str
    text: str
    how: str


def questions(workload: Workload) -> Iterator[Question]:
    """What nobody has answered. It is not taken for an answer: each keeps the risk from being low."""
    operators, shapes = workload.operators, workload.shapes
    asked: tuple[tuple[object, Question], ...] = (
        (
            operators.all_supported,
            Question(
                "operators",
                "operators.all_supported",
                "Does Neuron support every operator?",
                "compile the model, to the end and not to the first warning, or compare with the list of operators",
            ),
        ),
        (
            operators.custom_kernels,
            Question(
                "operators",
                "operators.custom_kernels",
                "Are there CUDA or Triton kernels of your own?",
                "search for load_inline, CUDAExtension, triton.jit and .cu files",
            ),
        ),
        (
            operators.flash_attention,
            Question(
                "operators",
                "operators.flash_attention",
                "Does anything import flash_attn?",
                "search the code, and the model's own code on the hub",
            ),
        ),
        (
            operators.quantized,
            Question(
                "operators",
                "operators.quantized",
                "Are the weights in GPTQ, AWQ or GGUF?",
                "see quantization_config in config.json",
            ),
        ),
        (
            operators.sparse_tensors,
            Question(
                "operators", "operators.sparse_tensors", "Does it rely on sparse tensors?", "search for torch.sparse"
            ),
        ),
        (
            shapes.inputs,
            Question(
                "shapes",
                "shapes.inputs",
                "Do inputs have one length, a few, or any?",
                "draw the lengths of a day's requests, or of the data set",
            ),
        ),
        (
            shapes.control_flow_on_tensors,
            Question(
                "shapes",
                "shapes.control_flow_on_tensors",
                "Does Python branch on values that the model computes?",
                "search forward() for if, while and .item() on tensors",
            ),
        ),
        (
            workload.architecture_changes,
            Question(
                "fit", "architecture_changes", "How often does the architecture change?", "count in the last half year"
            ),
        ),
        (
            workload.outputs_tested,
            Question(
                "fit",
                "outputs_tested",
                "Is there a test set that tells whether two versions answer alike?",
                "take the one that gates releases, or make one",
            ),
        ),
        (
            workload.monthly_usd,
            Question("money", "monthly_usd", "What do its accelerators cost in a month?", "read it off the bill"),
        ),
    )
    yield from (question for answer, question in asked if answer is None)
