"""What SageMaker says of an endpoint: its status, its variants, and the configuration that it goes to."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from fleet.hosting.variants import CANDIDATE, STABLE
from lambdas.rollout.ports import BusyError

if TYPE_CHECKING:
    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import ProductionVariantSummaryTypeDef

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


def read(sagemaker: "SageMakerClient", endpoint: str) -> EndpointState:
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


def _models(sagemaker: "SageMakerClient", configuration: str) -> dict[str, str]:
    found = sagemaker.describe_endpoint_config(EndpointConfigName=configuration)
    return {each["VariantName"]: str(each["ModelName"]) for each in found["ProductionVariants"]}


def _variant(found: "ProductionVariantSummaryTypeDef", models: Mapping[str, str]) -> Variant:
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


def read_once(sagemaker: "SageMakerClient") -> "SageMakerClient":
    """The client for one look, and no longer: it reads each thing once, and again after a change.

    A look asks a dozen questions of the same endpoint. How often a second an account may describe endpoints is a quota
    ("Rate of DescribeEndpoint requests"), which whoever else watches endpoints there uses as well.
    """
    return cast("SageMakerClient", _ReadOnce(sagemaker))


class _ReadOnce:
    def __init__(self, sagemaker: "SageMakerClient") -> None:
        self._sagemaker = sagemaker
        # By call; what has a configuration's name never changes.
        self._known: dict[str, dict[str, object]] = {"describe_endpoint": {}, "describe_endpoint_config": {}}

    def __getattr__(self, call: str) -> Callable[..., object]:
        ask = getattr(self._sagemaker, call)
        return partial(self._once, self._known[call], ask) if call in self._known else partial(self._change, ask)

    def _once(self, known: dict[str, object], ask: Callable[..., object], **request: object) -> object:
        key = json.dumps(request, sort_keys=True)
        if key not in known:
            known[key] = ask(**request)
        return known[key]

    def _change(self, ask: Callable[..., object], **request: object) -> object:
        # Before the call: where its answer is lost, it may have been done.
        self._known["describe_endpoint"].clear()
        return ask(**request)
