"""Pre-training of a Llama with NeuronX Distributed: tensor, pipeline and data parallelism, ZeRO-1, bf16.

Run by ``examples.launch``. The data are S3 objects of token ids, 16 bits each. The image brings
``modeling_llama_nxd`` of NeuronX Distributed's own examples (examples/training/llama), whose layers are split; the
calls are those of that library's run_llama_nxd.py. Nothing here was run on Trainium.
"""

import argparse
import json
import os
from pathlib import Path

import neuronx_distributed as nxd
import numpy as np
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend  # noqa: F401 - registers "xla"
from modeling_llama_nxd import LlamaDecoderLayer, LlamaForCausalLM, LlamaRMSNorm
from neuronx_distributed.parallel_layers import mappings, parallel_state
from transformers import LlamaConfig

from examples import objects
from examples.loop import Figures, Work, saver_of, scratch_of, train

CONFIG = Path(__file__).parent.parent / "llama-2-7b.json"
SCRATCH = scratch_of(os.environ)
CONTEXT, MICRO_BATCHES, LEARNING_RATE = 4096, 8, 3e-4


def main() -> None:
    """Train until the tokens that the job file wants are seen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    data = parser.parse_args().data
    tensor, pipeline, copies = (
        int(os.environ[f"NEURON_FLEET_{name}_PARALLEL"]) for name in ("TENSOR", "PIPELINE", "DATA")
    )
    torch.distributed.init_process_group("xla")
    config = nxd.neuronx_distributed_config(
        tensor_parallel_size=tensor,
        pipeline_parallel_size=pipeline,
        pipeline_config={
            "transformer_layer_cls": LlamaDecoderLayer,
            "num_microbatches": MICRO_BATCHES,
            "output_loss_value_spec": (True, False),
            "input_names": ["input_ids", "attention_mask", "labels"],
            "auto_partition": True,
            "param_init_fn": None,
            "leaf_module_cls": [LlamaRMSNorm.__name__],
            "autowrap_modules": [mappings],
            "use_zero1_optimizer": True,
            "use_optimizer_wrapper": True,
        },
        optimizer_config={"zero_one_enabled": True, "grad_clipping": True, "max_grad_norm": 1.0},
        sequence_parallel=True,
        activation_checkpoint_config="full",
    )
    shape = LlamaConfig(**json.loads(CONFIG.read_text(encoding="utf-8")))
    model = nxd.initialize_parallel_model(config, lambda: LlamaForCausalLM(shape).to(torch.bfloat16))
    optimizer = nxd.initialize_parallel_optimizer(config, torch.optim.AdamW, model.parameters(), lr=LEARNING_RATE)
    copy = parallel_state.get_data_parallel_rank()
    files = objects.fetch(objects.client(), data, SCRATCH / f"data-{os.environ['RANK']}", (copy, copies))
    tokens = np.concatenate([np.fromfile(file, dtype=np.uint16) for file in files])

    def step(number: int) -> Figures:
        batch = _batch(tokens, number)
        loss = model.run_train(input_ids=batch, attention_mask=torch.ones_like(batch), labels=batch)
        optimizer.step()
        optimizer.zero_grad()
        xm.mark_step()
        # Every rank of a copy works on the same tokens: one of them reports them. Only the last stage has a loss.
        is_first = (
            parallel_state.get_tensor_model_parallel_rank() == parallel_state.get_pipeline_model_parallel_rank() == 0
        )
        return Figures(batch.numel() if is_first else 0, float(loss) if loss is not None and number % 10 == 0 else None)

    def write(folder: Path) -> None:
        xm.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "state.pt", master_only=False
        )

    def load(folder: Path) -> None:
        state = torch.load(folder / "state.pt", map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])

    per_step = copies * MICRO_BATCHES * CONTEXT
    last = -(-int(os.environ["NEURON_FLEET_TOKENS_WANTED"]) // per_step)
    train(saver_of(os.environ, SCRATCH), last, Work(step, write, load))


def _batch(tokens: "np.ndarray[tuple[int], np.dtype[np.uint16]]", number: int) -> torch.Tensor:
    """The same sequences at the same step, whatever was interrupted in between."""
    size = MICRO_BATCHES * CONTEXT
    start = (number - 1) * size % max(1, len(tokens) - size)
    return torch.from_numpy(tokens[start : start + size].astype(np.int64).reshape(MICRO_BATCHES, CONTEXT))


if __name__ == "__main__":
    main()
