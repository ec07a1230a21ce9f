"""What must hold of what an endpoint serves: its image, what is in it, its buckets, and its compiled graphs."""

from collections.abc import Iterator

from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet.capacity.rules.software import stated_sdk
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.serving.buckets import BucketError, Buckets


def is_pinned(image: str) -> bool:
    """Whether it is named by its digest."""
    return "@sha256:" in image


def pins_its_image(image: str) -> Iterator[Diagnostic]:
    """A rollout tells two versions apart by what they are, and a tag can be moved while both serve."""
    if not is_pinned(image):
        yield refuse(
            "image-without-digest",
            "endpoint.container_image",
            image,
            "a tag can be moved: nodes of one version would serve different images",
            "add the digest, name:tag@sha256:…, which `docker buildx imagetools inspect` prints",
        )


def serves_what_was_compiled(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    """Its buckets, and outside of a laptop what its graphs were compiled with and for."""
    yield from _has_buckets(fleet)
    if environment.plain_http:
        return
    endpoint = fleet.endpoint
    if not stated_sdk(fleet.neuron_sdk, endpoint.container_image):
        yield refuse(
            "sdk-not-stated",
            "neuron_sdk",
            "",
            f"nobody says which Neuron SDK the image has, so whether it runs on {fleet.instance_type} is not known",
            'write neuron_sdk, such as "2.28"',
        )
    if fleet.framework is None:
        yield refuse(
            "framework-not-stated",
            "framework",
            "",
            f"missing: which SDKs run on {fleet.instance_type} depends on it",
            "write what runs the model: nxd-inference, torch-xla, vllm or jax",
        )
    if endpoint.artifact is None:
        yield warn(
            "artifact-not-declared",
            "endpoint.artifact",
            "",
            "a task that starts cannot fetch compiled graphs, nor say whether it has the right ones",
            "name what was compiled: {model: meta/llama, version: r1}",
        )


def _has_buckets(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    endpoint = fleet.endpoint
    try:
        Buckets(endpoint.sequence_lengths, endpoint.batch_sizes)
    except BucketError as error:
        name, _, right = str(error).partition(": ")
        yield refuse("not-buckets", f"endpoint.{name}", getattr(endpoint, name), "they are no buckets", right)
