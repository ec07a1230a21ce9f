"""A task of an endpoint that records, or is compared: the example server as a process, told what ECS would tell it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.served_standin import served
from tests.support.shadow import ecs_agent

MIN_REQUESTS = 10


@dataclass(frozen=True)
class ShadowPlace:
    """``aws`` reaches the account; ``candidates`` is the cluster of candidates."""

    aws: Mapping[str, str]
    bucket: str
    fleet: str
    candidates: str


@contextmanager
def shadow_task(
    place: ShadowPlace, folder: Path, version: str, cluster: str, task: str, *arguments: str
) -> Iterator[str]:
    """Its address, once it serves; every request of the stable side is recorded."""
    own = folder / task
    own.mkdir()
    with ecs_agent(version, cluster, task) as agent:
        shadow = {
            "ECS_CONTAINER_METADATA_URI_V4": agent, "NEURON_FLEET_SHADOW_BUCKET": place.bucket,
            "NEURON_FLEET_SHADOW_FLEET": place.fleet, "NEURON_FLEET_SHADOW_CANDIDATES": place.candidates,
            "NEURON_FLEET_SHADOW_PERCENT": "100", "NEURON_FLEET_SHADOW_REQUESTS": str(MIN_REQUESTS),
            "NEURON_FLEET_SHADOW_COSINE": "0.999",
        }  # fmt: skip
        with served(own, "--seconds", "0.01", *arguments, told={**place.aws, **shadow}) as address:
            yield address
