"""A LoRA fine-tune of a Llama on the first cores of a node: S3 in, adapters out. Run by ``examples.launch``."""

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import neuronx_distributed as nxd
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend  # noqa: F401 - registers "xla"
from neuronx_distributed.parallel_layers import parallel_state

from examples import objects
from examples.llama_lora import adapters
from examples.llama_lora.model import CONTEXT, configuration, fetch_base, load_base, texts_of, tokenized
from examples.loop import Figures, Work, saver_of, scratch_of, train

SCRATCH = scratch_of(os.environ)
LEARNING_RATE, EXPORT_STEPS = 2e-4, 200


class FineTune:
    """One rank of it."""

    def __init__(self, base: str, data: str, out: str) -> None:
        self._out, self._s3, self._rank = out, objects.client(), int(os.environ["RANK"])
        folder = SCRATCH / "base"
        fetch_base(self._s3, base, folder, is_first=os.environ["LOCAL_RANK"] == "0")
        configured = configuration(int(os.environ["NEURON_FLEET_TENSOR_PARALLEL"]))
        self._model: Any = load_base(configured, folder)
        trained = [each for each in self._model.parameters() if each.requires_grad]
        self._optimizer = nxd.initialize_parallel_optimizer(configured, torch.optim.AdamW, trained, lr=LEARNING_RATE)
        self._copy = parallel_state.get_data_parallel_rank()
        share = (self._copy, int(os.environ["NEURON_FLEET_DATA_PARALLEL"]))
        self._batches = tokenized(
            folder, texts_of(objects.fetch(self._s3, data, SCRATCH / f"data-{self._rank}", share))
        )

    def step(self, number: int) -> Figures:
        """The same batch at the same step, whatever was interrupted in between."""
        batch = self._batches[(number - 1) % len(self._batches)].to("xla")
        loss = self._model(input_ids=batch, labels=batch)[0]
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad()
        xm.mark_step()
        if number % EXPORT_STEPS == 0:
            self.export(number)
        # The ranks of a copy work on the same tokens: one of them reports.
        is_first = parallel_state.get_tensor_model_parallel_rank() == 0
        return Figures(CONTEXT if is_first else 0, float(loss) if number % 10 == 0 else None)

    def export(self, number: int) -> None:
        """Adapters to the validation beside it, and out. One copy is enough; each of its ranks has a part."""
        if self._copy != 0:
            return
        written = SCRATCH / f"adapter-{self._rank}"
        shutil.rmtree(written, ignore_errors=True)
        written.mkdir(parents=True)
        torch.save(self._adapters(), written / f"adapter-{self._rank:05d}.pt")
        part = adapters.publish(written, number, adapters.FOLDER / f"rank-{self._rank}")
        objects.send(self._s3, part, f"{self._out}/step-{number}")

    def write(self, folder: Path) -> None:
        """What this rank resumes from: the base is fetched again."""
        torch.save({"adapters": self._adapters(), "optimizer": self._optimizer.state_dict()}, folder / "state.pt")

    def load(self, folder: Path) -> None:
        """The opposite of ``write``."""
        state = torch.load(folder / "state.pt")
        self._model.load_state_dict(state["adapters"], strict=False)
        self._optimizer.load_state_dict(state["optimizer"])

    def _adapters(self) -> dict[str, torch.Tensor]:
        return {name: value.cpu() for name, value in self._model.named_parameters() if value.requires_grad}


def main() -> None:
    """Train the adapters, and publish them every ``EXPORT_STEPS`` steps and at the end."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, required=True)
    asked = parser.parse_args()
    torch.distributed.init_process_group("xla")
    tune = FineTune(asked.base, asked.data, asked.out)
    per_step = int(os.environ["NEURON_FLEET_DATA_PARALLEL"]) * CONTEXT
    last = -(-int(os.environ["NEURON_FLEET_TOKENS_WANTED"]) // per_step)
    if train(saver_of(os.environ, SCRATCH), last, Work(tune.step, tune.write, tune.load)):
        tune.export(last)
    xm.rendezvous("exported")
    if os.environ["RANK"] == "0":
        adapters.finish()


if __name__ == "__main__":
    main()
