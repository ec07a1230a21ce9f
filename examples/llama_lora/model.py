"""The model that the fine-tune trains and the validation reads: a Llama with adapters, split by tensor parallelism.

The image brings ``modeling_llama_nxd`` of NeuronX Distributed's own examples (examples/training/llama), whose layers
are split. The base is a NeuronX Distributed checkpoint with the tag ``pretrained_weight``, beside config.json and the
tokenizer's files. The calls are those of that library's examples; nothing here was run on Trainium.
"""

import json
from pathlib import Path
from typing import Any

import neuronx_distributed as nxd
import torch
import torch_xla.core.xla_model as xm
from modeling_llama_nxd import LlamaForCausalLM
from neuronx_distributed.modules.lora import LoraConfig
from transformers import AutoTokenizer, LlamaConfig

from examples import objects

CONTEXT = 2048


def fetch_base(s3: Any, address: str, folder: Path, *, is_first: bool) -> None:  # noqa: ANN401 - boto3 makes clients at run time
    """Once for all ranks of a node."""
    if is_first:
        objects.fetch(s3, address, folder)
    xm.rendezvous(f"fetched {folder}")


def configuration(tensor: int) -> dict[str, Any]:
    """Adapters of rank 16 on the query and value projections."""
    found: dict[str, Any] = nxd.neuronx_distributed_config(
        tensor_parallel_size=tensor,
        optimizer_config={"zero_one_enabled": True, "grad_clipping": True, "max_grad_norm": 1.0},
        activation_checkpoint_config="full",
        lora_config=LoraConfig(enable_lora=True, lora_rank=16, lora_alpha=32, target_modules=["q_proj", "v_proj"]),
    )
    return found


def load_base(configured: dict[str, Any], base: Path) -> Any:  # noqa: ANN401 - of a library without types
    """The model with the base's weights, and adapters that do nothing yet."""
    shape = LlamaConfig(**json.loads((base / "config.json").read_text(encoding="utf-8")))
    model = nxd.initialize_parallel_model(configured, lambda: LlamaForCausalLM(shape).to(torch.bfloat16))
    nxd.load_checkpoint(str(base), tag="pretrained_weight", model=model, optimizer=None, scheduler=None)
    return model


def tokenized(base: Path, texts: list[str]) -> list[torch.Tensor]:
    """Token ids of each text, all of the same length."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    options = {"max_length": CONTEXT, "padding": "max_length", "truncation": True, "return_tensors": "pt"}
    return [tokenizer(text, **options)["input_ids"] for text in texts]


def texts_of(files: list[Path]) -> list[str]:
    """The ``text`` of every line of JSON."""
    return [json.loads(line)["text"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
