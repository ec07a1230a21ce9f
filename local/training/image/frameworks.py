"""What a training image has and this machine has not: torch, torch-xla, NeuronX Distributed, transformers, numpy.

Just as much of them as ``examples/pretraining/train.py`` calls, so that the script runs as it is. The model is a sum of
the tokens that it was shown: after N steps it is what it must be, or steps were lost, repeated, or of other data.
A step ends when every rank of the job has done it, as with collectives.

``python -m local.training.image.frameworks MODULE …`` is one rank of a script on a machine without its frameworks.
"""

import json
import os
import runpy
import socket
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

FABRIC: Final = "NEURON_SANDBOX_FABRIC"
# Less than real ones take by far, and enough that the library knows its pace.
_STEP_SECONDS: Final = 0.008


class CollectiveError(RuntimeError):
    """A peer did not come, as the runtime says it after its time-out."""


class Tokens:
    """A vector of whole numbers: as much of numpy's and torch's arrays as is asked for."""

    def __init__(self, values: Sequence[int]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, span: slice) -> "Tokens":
        return Tokens(self.values[span])

    def astype(self, _kind: object) -> "Tokens":
        """The same numbers."""
        return self

    def reshape(self, *_shape: int) -> "Tokens":
        """The same numbers."""
        return self

    def numel(self) -> int:
        """How many there are."""
        return len(self.values)


class Model:
    """Steps done, and the sum of the tokens seen: all that training changes."""

    def __init__(self, fabric: str, run: str, rank: int, world: int) -> None:
        host, _, port = fabric.partition(":")
        self._link = socket.create_connection((host, int(port)))
        self._link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._link.makefile("rwb")
        self._place = {"run": run, "rank": rank, "world": world}
        self.steps = self.total = 0

    def run_train(self, *, input_ids: Tokens, **_: object) -> float:
        """Forward and backward: the loss falls as the sum grows."""
        time.sleep(_STEP_SECONDS)
        self.total += sum(input_ids.values)
        self.steps += 1
        return 10.0 / self.steps

    def meet(self) -> None:
        """The gradients' all-reduce.

        Raises:
            CollectiveError: a peer is lost.
        """
        said = {**self._place, "step": self.steps, "total": self.total}
        self._stream.write(json.dumps(said).encode() + b"\n")
        self._stream.flush()
        answer = self._stream.readline()
        why = json.loads(answer)["why"] if answer else "the fabric is gone"
        if why:
            raise CollectiveError(f"all-reduce of step {self.steps}: {why}")

    def state_dict(self) -> dict[str, int]:
        """What a checkpoint holds."""
        return {"steps": self.steps, "total": self.total}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from a checkpoint."""
        self.steps, self.total = state["steps"], state["total"]


class Optimizer:
    """Its step is where ranks meet."""

    def __init__(self, model: Model) -> None:
        self.step: Callable[[], None] = model.meet

    def zero_grad(self) -> None:
        """Nothing is kept."""

    def state_dict(self) -> dict[str, int]:
        """Nothing is kept."""
        return {}

    def load_state_dict(self, _state: Mapping[str, int]) -> None:
        """Nothing is kept."""


def install(environment: Mapping[str, str] = os.environ) -> None:
    """Make them importable in this process: after this, ``import torch`` is this file's."""
    rank, world = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    run = f"{environment['AWS_BATCH_JOB_ID'].partition('#')[0]}.{environment['AWS_BATCH_JOB_ATTEMPT']}"
    model = Model(environment[FABRIC], run, rank, world)
    nothing = SimpleNamespace
    _module("numpy", fromfile=_fromfile, concatenate=_concatenate, uint16=int, int64=int, ndarray=object, dtype=object)
    _module(
        "torch",
        Tensor=Tokens,
        bfloat16=None,
        distributed=nothing(init_process_group=lambda _backend: None),
        optim=nothing(AdamW=None),
        ones_like=lambda tokens: tokens,
        from_numpy=lambda tokens: tokens,
        load=lambda path, map_location: json.loads(Path(path).read_text(encoding="utf-8")),
    )
    _module("torch_xla")
    _module("torch_xla.core")
    _module("torch_xla.core.xla_model", mark_step=lambda: None, save=_save)
    _module("torch_xla.distributed")
    _module("torch_xla.distributed.xla_backend")
    _module("transformers", LlamaConfig=nothing)
    _module("modeling_llama_nxd", LlamaDecoderLayer=Model, LlamaForCausalLM=Model, LlamaRMSNorm=Model)
    _module(
        "neuronx_distributed",
        neuronx_distributed_config=lambda **asked: asked,
        initialize_parallel_model=lambda _config, _make: model,
        initialize_parallel_optimizer=lambda _config, _kind, _parameters, lr: Optimizer(model),
    )
    # One process stands for all ranks of a node, which are one copy of the model: tensor x pipeline = its cores.
    ranks = {
        "get_data_parallel_rank": lambda: rank,
        "get_tensor_model_parallel_rank": lambda: 0,
        "get_pipeline_model_parallel_rank": lambda: 0,
    }
    parallel = _module("neuronx_distributed.parallel_layers", mappings=None)
    parallel.__dict__["parallel_state"] = nothing(**ranks)
    model.__dict__["parameters"] = list


def _module(name: str, **members: Any) -> ModuleType:  # noqa: ANN401 - whatever a module has
    made = ModuleType(name)
    made.__dict__.update(members)
    parent, _, own = name.rpartition(".")
    if parent:
        sys.modules[parent].__dict__[own] = made
    # A package, so that what lies below it is looked for among the modules that are there.
    made.__path__ = []
    sys.modules[name] = made
    return made


def _fromfile(path: Path, dtype: object) -> Tokens:
    values = array("H")
    values.frombytes(path.read_bytes())
    return Tokens(values)


def _concatenate(parts: Sequence[Tokens]) -> Tokens:
    values = array("H")
    for part in parts:
        values.extend(part.values)
    return Tokens(values)


def _save(state: object, path: Path, *, master_only: bool) -> None:
    path.write_text(json.dumps(state), encoding="utf-8")


def main() -> None:
    """Put stand-ins where the frameworks are imported from, and run the script as ``python -m`` would."""
    install()
    module = sys.argv[1]
    sys.argv = sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
