"""``python -m examples.serving --model MODULE:NAME``, or ``--standin``: serve one model until told to stop.

MODULE:NAME makes a ``Model`` (``examples/serving/model.py``). What the endpoint's task definition sets is read from the
environment; with ``--standin`` all of it has a default. Ends with 75 when its runtime is sick, to be started again.
"""

import argparse
import importlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from fastapi import FastAPI

from examples.serving import vllm
from examples.serving.app import Server, application
from examples.serving.gentle import serve
from examples.serving.model import Model
from examples.serving.standin import StandIn
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.serving.readiness import Limits
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.upkeep.warm_record import boot_id
from workload.errors import CacheError
from workload.node_agent import Figures
from workload.serving import settings as configuration
from workload.serving.cold_start import bring, wrong_with
from workload.serving.devices import held_devices
from workload.serving.health import OK, Health
from workload.serving.memory import HostMemory
from workload.serving.settings import Settings
from workload.serving.shadow import settings as shadow
from workload.serving.shadow.application import shadowed
from workload.serving.watch import RESTART_CODE

_PROC: Final = Path("/proc")
_OF_A_STAND_IN: Final = {
    "NEURON_FLEET_SEQUENCE_LENGTHS": "128,256,512,1024,2048",
    "NEURON_FLEET_BATCH_SIZES": "1,4",
    "NEURON_FLEET_CORES": "2",
    "NEURON_FLEET_CORES_PER_DEVICE": "2",
    "NEURON_FLEET_LOADING_SECONDS": "60",
}


def main() -> None:
    """Read the command line and the environment, and serve."""
    parser = argparse.ArgumentParser(prog="python -m examples.serving", description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="", help="MODULE:NAME of what makes the model")
    parser.add_argument("--vllm", default="", help="address of a vLLM that serves already: http://127.0.0.1:8001")
    parser.add_argument("--vllm-model", default="", help="the model as vLLM calls it")
    parser.add_argument("--standin", action="store_true", help="no model: its shapes, time and failures")
    parser.add_argument("--seconds", type=float, default=0.0, help="of a batch of the stand-in")
    parser.add_argument("--error-every", type=int, default=0, help="which batch of the stand-in fails; 0: none")
    parser.add_argument("--says", default="word", help="every word of the stand-in's completions")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    asked = parser.parse_args()
    told = {**_OF_A_STAND_IN, **os.environ} if asked.standin else dict(os.environ)
    settings = configuration.read(told)
    if asked.vllm:
        front = _front(settings, told, asked.vllm, asked.vllm_model)
        _serve(vllm.application(front), front.health, settings, told, asked)
        return
    if asked.standin:
        settings = replace(settings, artifact=None)
        model: Model = StandIn(asked.seconds, asked.error_every, cores=settings.cores, says=asked.says)
    else:
        module, _, name = asked.model.partition(":")
        # The path is the operator's own; what it names makes a Model.
        model = cast(Model, getattr(importlib.import_module(module), name)(settings))
    server = _server(settings, model, told)
    _serve(application(server), server.health, settings, told, asked)


def _serve(
    app: FastAPI, health: Health, settings: Settings, told: Mapping[str, str], asked: argparse.Namespace
) -> None:
    # Around everything: what a rollout compares are whole answers.
    whole = shadowed(app, shadow.read(told), lambda: health.ready().status == OK)
    serve(whole, health, host=asked.host, port=asked.port, leaving_seconds=settings.leaving_seconds)


def _health(settings: Settings) -> Health:
    memory = HostMemory(settings.folder, boot_id(_PROC))
    return Health(settings.expected, memory, time.monotonic, Limits(loading_seconds=settings.loading_seconds))


def _front(settings: Settings, told: Mapping[str, str], address: str, model: str) -> vllm.Front:
    health = _health(settings)
    # Before this process answers at all: whoever starts vLLM waits for that, and then its graphs are on disk.
    health.found_artifact(_prepare(settings, told))
    return vllm.Front(
        address.rstrip("/"),
        model,
        settings.buckets,
        health,
        held_cores=lambda: len(held_devices()) * settings.cores_per_device,
        restart=lambda: os._exit(RESTART_CODE),
    )


def _server(settings: Settings, model: Model, told: Mapping[str, str]) -> Server:
    return Server(
        settings.buckets,
        model,
        _health(settings),
        Figures(),
        prepare=lambda: _prepare(settings, told),
        # Not sys.exit: a runtime that hangs holds threads that would be waited for.
        restart=lambda: os._exit(RESTART_CODE),
        name=settings.artifact.model if settings.artifact else "stand-in",
    )


def _prepare(settings: Settings, told: Mapping[str, str]) -> str:
    """Bring the artifact's graphs, and say what is wrong with them."""
    if settings.artifact is None:
        return ""
    # Reading botocore's data takes seconds, and a stand-in needs none of it.
    from workload.compile_cache.adapters import S3Objects  # noqa: PLC0415 - see above

    local = LocalTier(Path(told.get("NEURON_COMPILE_CACHE_URL", LOCAL_FOLDER)))
    try:
        objects = S3Objects(told["NEURON_FLEET_CACHE_BUCKET"], told["AWS_REGION"])
        graphs = bring(settings.artifact, objects, local, local.own / "artifact")
    except (CacheError, OSError) as error:
        return f"{settings.artifact.prefix}: {error}"
    except KeyError as error:
        return f"{settings.artifact.prefix}: {error.args[0]} is not set, so its graphs cannot be fetched"
    return wrong_with(settings.artifact, graphs, local)


if __name__ == "__main__":
    main()
