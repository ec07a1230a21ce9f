"""Embeddings of every document below an address of S3: each rank takes its share of the files, a file a step.

Run by ``examples.launch``. Documents are lines of JSON with a ``text``. Every rank does the same number of steps,
because all must save the same one; who has no file left does nothing in it. Nothing here was run on Trainium.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import torch
import torch_neuronx
from transformers import AutoModel, AutoTokenizer

from examples import objects
from examples.loop import Figures, Work, saver_of, scratch_of, train

SCRATCH = scratch_of(os.environ)
CONTEXT, BATCH = 512, 32


def main() -> None:
    """Embed each of this rank's files and store the result beside its name."""
    parser = argparse.ArgumentParser()
    for name in ("--model", "--data", "--out"):
        parser.add_argument(name, required=True)
    asked = parser.parse_args()
    rank, world, s3 = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), objects.client()
    base = SCRATCH / f"model-{rank}"
    objects.fetch(s3, asked.model, base)
    tokenizer = AutoTokenizer.from_pretrained(base)
    sample = _encode(tokenizer, [""] * BATCH)
    model = torch_neuronx.trace(AutoModel.from_pretrained(base, torchscript=True).eval(), sample)
    bucket, prefix = objects.split(asked.data)
    keys = objects.listed(s3, asked.data)
    own = keys[rank::world]

    def step(number: int) -> Figures:
        if number > len(own):
            return Figures(0)
        key = own[number - 1]
        lines = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode().splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        vectors = [_vectors(model, tokenizer, texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        folder = SCRATCH / f"out-{rank}"
        file = folder / f"{key.removeprefix(prefix)}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, np.concatenate(vectors) if vectors else np.zeros((0, 0), dtype=np.float32))
        objects.send(s3, folder, asked.out)
        file.unlink()
        return Figures(len(texts) * CONTEXT)

    def nothing(_: Path) -> None:
        """The step is all there is to remember."""

    train(saver_of(os.environ, SCRATCH), -(-len(keys) // world), Work(step, nothing, nothing))


def _encode(tokenizer: AutoTokenizer, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    encoded = tokenizer(texts, max_length=CONTEXT, padding="max_length", truncation=True, return_tensors="pt")
    return encoded["input_ids"], encoded["attention_mask"]


def _vectors(
    model: torch.nn.Module, tokenizer: AutoTokenizer, texts: list[str]
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """The first token's state, of length one. A traced graph takes full batches only."""
    padded = texts + [""] * (BATCH - len(texts))
    state = model(*_encode(tokenizer, padded))[0][: len(texts), 0]
    found: np.ndarray[tuple[int, int], np.dtype[np.float32]] = torch.nn.functional.normalize(state, dim=1).numpy()
    return found


if __name__ == "__main__":
    main()
