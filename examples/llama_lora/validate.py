"""Validation of what a fine-tune publishes, on the cores of its node that it leaves.

Started by ``examples.launch --beside``: one rank on each of those cores, as many as a tensor-parallel group of the
fine-tune has, so that rank n takes the part of the fine-tune's rank n. It ends when the fine-tune does.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend  # noqa: F401 - registers "xla"

from examples import objects
from examples.llama_lora import adapters
from examples.llama_lora.model import configuration, fetch_base, load_base, texts_of, tokenized
from examples.loop import scratch_of

SCRATCH = scratch_of(os.environ)
SAMPLES, POLL_SECONDS = 64, 15.0


def main() -> None:
    """Validate the newest step that every part of is there, until nothing follows."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, required=True)
    asked = parser.parse_args()
    torch.distributed.init_process_group("xla")
    rank, world, s3 = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), objects.client()
    base, own = SCRATCH / "base-validation", adapters.FOLDER / f"rank-{rank}"
    fetch_base(s3, asked.base, base, is_first=rank == 0)
    model = load_base(configuration(world), base)
    files = objects.fetch(s3, f"{asked.data}-validation", SCRATCH / f"validation-{rank}")
    batches = tokenized(base, texts_of(files)[:SAMPLES])
    done = 0
    while True:
        # Asked before the steps, and of all ranks alike.
        is_last_look = xm.mesh_reduce("finished", adapters.is_finished(own.parent), all)
        newest = xm.mesh_reduce("newest", max(adapters.steps(own), default=0), min)
        if newest > done:
            for file in adapters.steps(own)[newest].glob("*.pt"):
                model.load_state_dict(torch.load(file), strict=False)
            _store(s3, asked.out, newest, _loss(model, batches), is_first=rank == 0)
            done = newest
        if is_last_look:
            return
        time.sleep(POLL_SECONDS)


def _loss(model: Any, batches: list[torch.Tensor]) -> float:  # noqa: ANN401 - of a library without types
    with torch.no_grad():
        losses = [float(model(input_ids=each.to("xla"), labels=each.to("xla"))[0]) for each in batches]
    return sum(losses) / len(losses)


def _store(s3: Any, out: str, step: int, loss: float, *, is_first: bool) -> None:  # noqa: ANN401 - see examples.objects
    if not is_first:
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "validation.json").write_text(json.dumps({"step": step, "loss": loss}), encoding="utf-8")
        objects.send(s3, Path(folder), f"{out}/step-{step}")


if __name__ == "__main__":
    main()
