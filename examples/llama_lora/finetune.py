"""A LoRA fine-tune of a Llama with NeuronX Distributed on the first cores of a node: S3 in, adapters out.

Run by ``examples.launch``. The data are S3 objects of lines of JSON with a ``text``. The calls are those of the
NeuronX Distributed API guide; nothing here was run on Trainium.
"""

import argparse
import json
import os
import shutil
from pathlib import Path

import torch
import torch_xla.core.xla_model as xm
from neuronx_distributed import initialize_parallel_model, initialize_parallel_optimizer, neuronx_distributed_config
from neuronx_distributed.modules.lora import LoraConfig
from neuronx_distributed.parallel_layers import parallel_state
from transformers import AutoModelForCausalLM, AutoTokenizer

from examples import objects
from examples.llama_lora import adapters
from examples.loop import Figures, Work, saver_of, train

SCRATCH = Path("/scratch")
CONTEXT, LEARNING_RATE, EXPORT_STEPS = 2048, 2e-4, 200


def main() -> None:
    """Train the adapters, and publish them every ``EXPORT_STEPS`` steps and at the end."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, required=True)
    asked = parser.parse_args()
    rank, s3 = int(os.environ["RANK"]), objects.client()
    copies = int(os.environ["NEURON_FLEET_DATA_PARALLEL"])
    base = SCRATCH / f"base-{rank}"
    objects.fetch(s3, asked.base, base)
    config = neuronx_distributed_config(
        tensor_parallel_size=int(os.environ["NEURON_FLEET_TENSOR_PARALLEL"]),
        optimizer_config={"zero_one_enabled": True, "grad_clipping": True, "max_grad_norm": 1.0},
        lora_config=LoraConfig(enable_lora=True, lora_rank=16, lora_alpha=32, target_modules=["q_proj", "v_proj"]),
    )
    model = initialize_parallel_model(
        config, lambda: AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.bfloat16)
    )
    trained = [each for each in model.parameters() if each.requires_grad]
    optimizer = initialize_parallel_optimizer(config, torch.optim.AdamW, trained, lr=LEARNING_RATE)
    copy = parallel_state.get_data_parallel_rank()
    files = objects.fetch(s3, asked.data, SCRATCH / f"data-{rank}", (copy, copies))
    texts = [json.loads(line)["text"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    tokenizer = AutoTokenizer.from_pretrained(base)

    def lora_state() -> dict[str, torch.Tensor]:
        return {name: value.cpu() for name, value in model.named_parameters() if value.requires_grad}

    def step(number: int) -> Figures:
        text = texts[(number - 1) % len(texts)]
        batch = tokenizer(text, max_length=CONTEXT, padding="max_length", truncation=True, return_tensors="pt")
        loss = model(**batch, labels=batch["input_ids"]).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        xm.mark_step()
        if number % EXPORT_STEPS == 0:
            export(number)
        is_first = parallel_state.get_tensor_model_parallel_rank() == 0
        return Figures(CONTEXT if is_first else 0, float(loss) if number % 10 == 0 else None)

    def export(number: int) -> None:
        # One copy of the model is enough; each of its ranks has a part of the adapters.
        if copy == 0:
            written = SCRATCH / f"adapter-{rank}"
            shutil.rmtree(written, ignore_errors=True)
            written.mkdir(parents=True)
            torch.save(lora_state(), written / f"adapter-{rank:05d}.pt")
            part = adapters.publish(written, number, adapters.FOLDER / f"rank-{rank}")
            objects.send(s3, part, f"{asked.out}/step-{number}")

    def write(folder: Path) -> None:
        torch.save({"adapters": lora_state(), "optimizer": optimizer.state_dict()}, folder / "state.pt")

    def load(folder: Path) -> None:
        state = torch.load(folder / "state.pt", weights_only=True)
        model.load_state_dict(state["adapters"], strict=False)
        optimizer.load_state_dict(state["optimizer"])

    last = -(-int(os.environ["NEURON_FLEET_TOKENS_WANTED"]) // (copies * CONTEXT))
    if train(saver_of(os.environ, SCRATCH), last, Work(step, write, load)):
        export(last)
    if rank == 0:
        adapters.finish()


if __name__ == "__main__":
    main()
