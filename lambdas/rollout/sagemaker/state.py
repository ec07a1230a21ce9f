"""What SageMaker says of an endpoint: its status, its variants, and the configuration that it goes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet.hosting.variants import CANDIDATE, STABLE
from lambdas.rollout.clients import SageMakerClient
from lambdas.rollout.ports import BusyError

IN_SERVICE: Final = "InService"
# SageMaker API, DescribeEndpoint: of a failed endpoint "DeleteEndpoint is the only operation that can be performed".
_LOST: Final = frozenset({"Failed", "OutOfService", "Deleting", "UpdateRollbackFailed"})


class EndpointLostError(Exception):
    """The endpoint is in a state that no rollout can bring it out of; the message quotes SageMaker."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant as it serves. Weights are shares of the sum of all."""

    name: str
    model: str
    weight: float
    wanted_weight: float
    instances: int
    wanted_instances: int


@dataclass(frozen=True, slots=True)
class EndpointState:
    """``variants`` serve; ``coming`` are the models by variant that there will be when what is under way is through."""

    status: str
    configuration: str
    failure: str
    variants: Mapping[str, Variant]
    coming: Mapping[str, str]

    @property
    def is_settled(self) -> bool:
        """Whether SageMaker would take a change."""
        return self.status == IN_SERVICE

    def must_be_settled(self) -> None:
        """Go on only where SageMaker would take a change.

        Raises:
            BusyError: one is under way, which ends by itself.
            EndpointLostError: it never will.
        """
        if self.status in _LOST:
            raise EndpointLostError(f"the endpoint is {self.status}: {self.failure or 'SageMaker gives no reason'}")
        if not self.is_settled:
            raise BusyError(f"the endpoint is {self.status}, and SageMaker takes one change at a time")


def read(sagemaker: SageMakerClient, endpoint: str) -> EndpointState:
    """The endpoint as it is now."""
    found = sagemaker.describe_endpoint(EndpointName=endpoint)
    models = _models(sagemaker, found["EndpointConfigName"])
    # Absent while weights and counts alone are changed.
    pending = found.get("PendingDeploymentSummary", {}).get("EndpointConfigName")
    variants = {each["VariantName"]: _variant(each, models) for each in found.get("ProductionVariants", ())}
    strange = variants.keys() - {STABLE, CANDIDATE}
    if strange:
        raise EndpointLostError(f"the endpoint has variants that nobody rolled out: {', '.join(sorted(strange))}")
    return EndpointState(
        status=found["EndpointStatus"],
        configuration=found["EndpointConfigName"],
        failure=str(found.get("FailureReason", "")),
        variants=variants,
        coming=_models(sagemaker, pending) if pending else models,
    )


def _models(sagemaker: SageMakerClient, configuration: str) -> dict[str, str]:
    found = sagemaker.describe_endpoint_config(EndpointConfigName=configuration)
    return {each["VariantName"]: str(each["ModelName"]) for each in found["ProductionVariants"]}


def _variant(found: Mapping[str, Any], models: Mapping[str, str]) -> Variant:
    name, weight, instances = (
        found["VariantName"],
        found.get("CurrentWeight", 0.0),
        found.get("CurrentInstanceCount", 0),
    )
    return Variant(
        name=name,
        model=models.get(name, ""),
        weight=float(weight),
        wanted_weight=float(found.get("DesiredWeight", weight)),
        instances=int(instances),
        wanted_instances=int(found.get("DesiredInstanceCount", instances)),
    )
