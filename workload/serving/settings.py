"""What a serving process is told, in environment variables: the endpoint's task definition sets them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.compile_cache.artifact import Artifact, ArtifactError
from fleet.serving.buckets import BucketError, Buckets
from fleet.serving.readiness import Expected
from workload.errors import ServingError

PREFIX: Final = "NEURON_FLEET_"
SEQUENCE_LENGTHS: Final = f"{PREFIX}SEQUENCE_LENGTHS"
BATCH_SIZES: Final = f"{PREFIX}BATCH_SIZES"
CORES: Final = f"{PREFIX}CORES"
CORES_PER_DEVICE: Final = f"{PREFIX}CORES_PER_DEVICE"
MODEL: Final = f"{PREFIX}MODEL"
MODEL_VERSION: Final = f"{PREFIX}MODEL_VERSION"
SDK_VERSION: Final = f"{PREFIX}SDK_VERSION"
FOLDER: Final = f"{PREFIX}SERVING_FOLDER"
LOADING_SECONDS: Final = f"{PREFIX}LOADING_SECONDS"
LEAVING_SECONDS: Final = f"{PREFIX}LEAVING_SECONDS"
# The agent's run directory on the host has it, and the task mounts it writable.
DEFAULT_FOLDER: Final = "/run/neuron-fleet/serving"


@dataclass(frozen=True, slots=True)
class Settings:
    """``artifact`` is None where the endpoint declares none. ``folder`` is where a sick runtime is remembered."""

    buckets: Buckets
    cores: int
    cores_per_device: int
    artifact: Artifact | None
    folder: Path
    loading_seconds: float
    leaving_seconds: float = 0.0
    """How long it answers after it was told to end; 0 where nobody sends it requests by its health."""

    @property
    def expected(self) -> Expected:
        """What must hold before requests come."""
        return Expected(self.cores, self.buckets.shapes, self.artifact.prefix if self.artifact else "")


def read(variables: Mapping[str, str]) -> Settings:
    """From ``NEURON_FLEET_SEQUENCE_LENGTHS`` and its siblings.

    Raises:
        ServingError: one that is needed is missing, or not what it can be.
    """
    lengths, batches = _sizes(variables, SEQUENCE_LENGTHS), _sizes(variables, BATCH_SIZES)
    try:
        buckets = Buckets(lengths, batches)
        artifact = _artifact(variables, buckets)
    except (BucketError, ArtifactError) as error:
        raise ServingError(str(error)) from error
    return Settings(
        buckets=buckets,
        cores=_number(variables, CORES),
        cores_per_device=_number(variables, CORES_PER_DEVICE),
        artifact=artifact,
        folder=Path(variables.get(FOLDER, DEFAULT_FOLDER)),
        loading_seconds=float(_number(variables, LOADING_SECONDS)),
        leaving_seconds=float(_number(variables, LEAVING_SECONDS)) if variables.get(LEAVING_SECONDS) else 0.0,
    )


def _artifact(variables: Mapping[str, str], buckets: Buckets) -> Artifact | None:
    if not variables.get(MODEL):
        return None
    model, version, sdk = (_needed(variables, name) for name in (MODEL, MODEL_VERSION, SDK_VERSION))
    return Artifact(model, version, sdk, buckets.lengths, buckets.batch_sizes)


def _needed(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name, "").strip()
    if not value:
        raise ServingError(f"{name} is not set; the endpoint's task definition sets it")
    return value


def _sizes(variables: Mapping[str, str], name: str) -> tuple[int, ...]:
    text = _needed(variables, name)
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise ServingError(f"{name} is {text!r}; it is whole numbers, such as 128,256,512") from None


def _number(variables: Mapping[str, str], name: str) -> int:
    text = _needed(variables, name)
    if not text.isdecimal() or int(text) < 1:
        raise ServingError(f"{name} is {text!r}; it is a whole number above zero")
    return int(text)
