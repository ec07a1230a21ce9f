"""Another configuration for the endpoint: what serves, with one variant added, changed or taken away."""

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

from botocore.exceptions import ClientError

from fleet.rollout.facts import HostedPlace
from lambdas.rollout.ports import BusyError, NoRoomError
from lambdas.rollout.sagemaker.state import EndpointState, Variant

if TYPE_CHECKING:
    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import ProductionVariantTypeDef, TagTypeDef

# SageMaker API, UpdateEndpoint: a resource limit is exceeded. It refuses the whole change, and no instance starts.
_NO_ROOM: Final = "ResourceLimitExceeded"
_VALIDATION: Final = "ValidationException"
# The words of "Cannot create already existing …" and "Cannot update in-progress endpoint …": SageMaker has no codes.
_THERE: Final = "already existing"
_UNDER_WAY: Final = "in-progress"


def is_there(error: ClientError) -> bool:
    """Whether SageMaker refuses to make what it has already."""
    return _says(error, _THERE)


def or_busy(error: ClientError) -> Exception:
    """The error, or that something else came first, such as its own scaling, or that a quota has no room."""
    told = error.response.get("Error", {})
    if told.get("Code") == _NO_ROOM:
        return NoRoomError(f"SageMaker has no room for it: {told.get('Message', '')}")
    return BusyError("SageMaker changes the endpoint just now") if _says(error, _UNDER_WAY) else error


def reconfigure(
    sagemaker: "SageMakerClient", hosted: HostedPlace, state: EndpointState, variants: Iterable[Variant]
) -> None:
    """Make ``variants`` what the endpoint has; SageMaker starts their instances and then ends the old ones.

    Weights and counts are written down as they are wanted now, so that nothing depends on what SageMaker retains.

    Raises:
        BusyError: another change is under way.
        NoRoomError: a quota is too low for it.
    """
    state.must_be_settled()
    production = [_described(hosted, each) for each in variants]
    name = f"{hosted.endpoint}-{_digest([production, hosted.key])}"
    if name == state.configuration:
        return
    try:
        sagemaker.create_endpoint_config(
            EndpointConfigName=name, ProductionVariants=production, KmsKeyId=hosted.key, Tags=tags(hosted)
        )
    except ClientError as error:
        # By its name it is of the same content: an earlier look made it.
        if not is_there(error):
            raise
    try:
        sagemaker.update_endpoint(EndpointName=hosted.endpoint, EndpointConfigName=name)
    except ClientError as error:
        raise or_busy(error) from error


def _described(hosted: HostedPlace, variant: Variant) -> "ProductionVariantTypeDef":
    described = {
        **hosted.variant,
        "VariantName": variant.name,
        "ModelName": variant.model,
        "InitialInstanceCount": variant.wanted_instances,
        "InitialVariantWeight": variant.wanted_weight,
    }
    return cast("ProductionVariantTypeDef", described)


def tags(hosted: HostedPlace) -> list["TagTypeDef"]:
    """What the environment's own resources are tagged with."""
    return [{"Key": key, "Value": value} for key, value in hosted.tags.items()]


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def model_name(hosted: HostedPlace, request: object) -> str:
    """The name of a model that is made for an image: the same content has the same name."""
    return f"{hosted.endpoint}-by-image-{_digest(request)}"


def _says(error: ClientError, words: str) -> bool:
    told = error.response.get("Error", {})
    return told.get("Code") == _VALIDATION and words in told.get("Message", "")
