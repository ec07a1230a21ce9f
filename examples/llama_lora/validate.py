"""Validation of the adapters of a fine-tune, on the cores of its node that it leaves.

Started by ``examples.launch --beside`` with NEURON_RT_VISIBLE_CORES of those cores. It takes what rank 0 to 7 of the
fine-tune publish, the newest step first, and ends when the fine-tune does. Nothing here was run on Trainium.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
import torch_neuronx  # noqa: F401 - registers the device
from transformers import AutoModelForCausalLM, AutoTokenizer

from examples import objects
from examples.llama_lora import adapters

SCRATCH = Path("/scratch")
CONTEXT, SAMPLES, POLL_SECONDS = 2048, 64, 15.0


def main() -> None:
    """Validate each step once, until nothing follows."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, required=True)
    asked = parser.parse_args()
    s3, base = objects.client(), SCRATCH / "base-validation"
    objects.fetch(s3, asked.base, base)
    files = objects.fetch(s3, f"{asked.data}-validation", SCRATCH / "validation")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    texts = [json.loads(line)["text"] for line in lines][:SAMPLES]
    tokenizer = AutoTokenizer.from_pretrained(base)
    done: set[int] = set()
    while True:
        is_last_look = adapters.is_finished()
        parts = [adapters.steps(each) for each in sorted(adapters.FOLDER.glob("rank-*"))]
        whole = set.intersection(*(set(each) for each in parts)) if parts else set()
        for step in sorted(whole - done, reverse=True)[:1]:
            model = AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.bfloat16)
            for part in parts:
                for file in part[step].glob("*.pt"):
                    model.load_state_dict(torch.load(file, weights_only=True), strict=False)
            loss = _loss(model.to("xla"), tokenizer, texts)
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "validation.json").write_text(
                    json.dumps({"step": step, "loss": loss}), encoding="utf-8"
                )
                objects.send(s3, Path(folder), f"{asked.out}/step-{step}")
            done |= {each for each in whole if each <= step}
        if is_last_look:
            return
        time.sleep(POLL_SECONDS)


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]  # untyped where torch is not installed
def _loss(model: torch.nn.Module, tokenizer: object, texts: list[str]) -> float:
    losses = []
    for text in texts:
        batch = tokenizer(text, max_length=CONTEXT, padding="max_length", truncation=True, return_tensors="pt")  # type: ignore[operator]  # of transformers
        batch = batch.to("xla")
        losses.append(float(model(**batch, labels=batch["input_ids"]).loss))
    return sum(losses) / len(losses)


if __name__ == "__main__":
    main()
