"""What the process is told about recorded requests, where the environment's file asks for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from workload.errors import ServingError

PREFIX: Final = "NEURON_FLEET_SHADOW_"
BUCKET: Final = f"{PREFIX}BUCKET"
FLEET: Final = f"{PREFIX}FLEET"
CANDIDATES: Final = f"{PREFIX}CANDIDATES"
PERCENT: Final = f"{PREFIX}PERCENT"
REQUESTS: Final = f"{PREFIX}REQUESTS"
COSINE: Final = f"{PREFIX}COSINE"
REGION: Final = "AWS_REGION"
# The ECS agent sets it in every container.
METADATA: Final = "ECS_CONTAINER_METADATA_URI_V4"


@dataclass(frozen=True, slots=True)
class ShadowSettings:
    """``candidates`` is the cluster in which a task is a candidate. ``min_requests`` are enough to compare."""

    bucket: str
    region: str
    fleet: str
    candidates: str
    percent: float
    min_requests: int
    cosine: float
    metadata: str


def read(variables: Mapping[str, str]) -> ShadowSettings | None:
    """From ``NEURON_FLEET_SHADOW_BUCKET`` and its siblings; None where the endpoint does not ask for it.

    Raises:
        ServingError: one that is needed is missing, or not what it can be.
    """
    if not variables.get(BUCKET):
        return None
    try:
        return ShadowSettings(
            bucket=variables[BUCKET],
            region=variables[REGION],
            fleet=variables[FLEET],
            candidates=variables[CANDIDATES],
            percent=float(variables[PERCENT]),
            min_requests=int(variables[REQUESTS]),
            cosine=float(variables[COSINE]),
            metadata=variables[METADATA],
        )
    except KeyError as error:
        raise ServingError(f"{error.args[0]} is not set, and {BUCKET} is") from error
    except ValueError as error:
        raise ServingError(f"{PERCENT}, {REQUESTS} or {COSINE} is no number: {error}") from error
