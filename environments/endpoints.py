"""What an environment file says of an endpoint: its image, its buckets, its health."""

from typing import Annotated, Literal

from pydantic import Field

from environments.clients import Clients
from environments.rollouts import Rollout
from environments.scaling import Scaling
from environments.strict_model import StrictModel
from fleet.serving.buckets import DEFAULT_LENGTHS


class CompiledModel(StrictModel):
    """Which compiled graphs an endpoint serves; with its SDK and buckets they are one artifact of the store."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    version: Annotated[str, Field(min_length=1, max_length=200)]


class SageMaker(StrictModel):
    """How SageMaker scales an endpoint that it hosts. Default: the fleet's ``nodes``, always."""

    min: Annotated[int, Field(ge=1, le=2000)]
    max: Annotated[int, Field(ge=1, le=2000)]
    invocations_per_instance_minute: Annotated[float, Field(gt=0)]
    """What an instance answers in a minute when it is as full as it should be: measure it with fleet bench endpoint."""


class Endpoint(StrictModel):
    """One HTTP service in front of an inference fleet; a task of it runs on every node."""

    engine: Literal["ecs", "sagemaker"] = "ecs"
    """Who runs it: ECS on the fleet's own nodes, or a SageMaker endpoint, without nodes of ours: docs/sagemaker.md."""
    sagemaker: SageMaker | None = None
    """Only with ``engine: sagemaker``."""
    sagemaker_generation: Annotated[int, Field(ge=1, le=99)] = 1
    """A higher one than deployed lets one deployment serve what the file declares, at once and without steps: where the
    first version never came up. docs/sagemaker.md says when else."""

    container_image: str
    """With its digest, ``name@sha256:…`` or ``name:tag@sha256:…``, unless the environment has ``plain_http: true``."""
    sequence_lengths: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=64)] = (
        DEFAULT_LENGTHS
    )
    """Buckets in tokens: a request is padded to the next one, and refused beyond the last."""
    batch_sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=64)] = (1,)
    """Sequences that a graph takes at once; with the lengths they are the graphs that there must be."""
    artifact: CompiledModel | None = None
    """What was compiled for these buckets. A task fetches it, compares it, and compiles nothing: docs/serving.md."""
    certificate_arn: str | None = None
    """Without one the listener is plain HTTP, which only an environment with ``plain_http: true`` may have, and
    there no public endpoint."""
    clients: Clients = Clients()
    """Who may call it. Default: the VPC."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    health_path: str = "/healthz/ready"
    """What the load balancer asks: 200 when the task should be given requests."""
    liveness_path: str | None = "/healthz/live"
    """What ECS asks inside the container: 200 unless it should be started again. Null: only whether it runs."""
    loading_minutes: Annotated[int, Field(ge=1, le=38)] = 30
    """Until the runtime's first answer; beyond it the task is started again. ECS itself gives it 40."""
    devices_per_task: Annotated[int, Field(ge=1)] = 12
    latency_p99_seconds: Annotated[float, Field(gt=0)] = 2.0
    rollout: Rollout = Rollout()
    scaling: Scaling | None = None
    """How nodes come and go with the load, ``nodes`` at most. Default: all of them, always."""
