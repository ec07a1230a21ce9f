"""The two variants of an endpoint: their weights, their models, their instances."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.rollout.facts import HostedPlace, RolloutPlace, Side, SidePlace
from lambdas.rollout.ports import BusyError
from lambdas.rollout.sagemaker.change import is_there, model_name, or_busy, reconfigure, tags
from lambdas.rollout.sagemaker.state import EndpointLostError, EndpointState, Variant, read

if TYPE_CHECKING:
    from mypy_boto3_application_autoscaling import ApplicationAutoScalingClient
    from mypy_boto3_application_autoscaling.type_defs import SuspendedStateTypeDef
    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import DesiredWeightAndCapacityTypeDef
    from mypy_boto3_ssm import SSMClient

_SPACE: Final = "sagemaker"
_DIMENSION: Final = "sagemaker:variant:DesiredInstanceCount"


class VariantWeights:
    """The weights, as they serve, and how many instances answer."""

    def __init__(self, sagemaker: "SageMakerClient", hosted: HostedPlace) -> None:
        self._sagemaker, self._hosted = sagemaker, hosted

    def weights(self, place: RolloutPlace) -> tuple[int, int]:
        """Percent of the requests for the stable variant and for the candidate: current weights, not desired ones.

        Raises:
            EndpointLostError: no variant has a weight.
        """
        return _shares(read(self._sagemaker, self._hosted.endpoint))

    def set_weights(self, place: RolloutPlace, candidate: int) -> None:
        """Send ``candidate`` percent to the candidate and the rest to the stable variant, in one call.

        Raises:
            BusyError: SageMaker is at it, or at something else; the next look sees to it.
        """
        state = read(self._sagemaker, self._hosted.endpoint)
        wanted = {STABLE: 100 - candidate, CANDIDATE: candidate}
        state.must_be_settled()
        if CANDIDATE not in state.variants:
            raise BusyError("the endpoint has no candidate yet")
        desired: list[DesiredWeightAndCapacityTypeDef] = [
            {"VariantName": name, "DesiredWeight": float(weight)} for name, weight in wanted.items()
        ]
        try:
            self._sagemaker.update_endpoint_weights_and_capacities(
                EndpointName=self._hosted.endpoint, DesiredWeightsAndCapacities=desired
            )
        except ClientError as error:
            raise or_busy(error) from error
        if self.weights(place) != (wanted[STABLE], wanted[CANDIDATE]):
            raise BusyError(f"SageMaker changes the weights to {wanted[STABLE]} and {wanted[CANDIDATE]}")

    def healthy(self, side: SidePlace) -> int:
        """Instances whose container has answered SageMaker's ping: it counts no others."""
        variant = read(self._sagemaker, self._hosted.endpoint).variants.get(side.service)
        return variant.instances if variant else 0


def _shares(state: EndpointState) -> tuple[int, int]:
    weights = {name: variant.weight for name, variant in state.variants.items()}
    total = sum(weights.values())
    if not total:
        raise EndpointLostError("no variant of the endpoint has a weight")
    candidate = round(100 * weights.get(CANDIDATE, 0.0) / total)
    return 100 - candidate, candidate


class Models:
    """Which model each variant runs, and is told to run. A version of an endpoint is a model, by its name."""

    def __init__(self, sagemaker: "SageMakerClient", ssm: "SSMClient", hosted: HostedPlace) -> None:
        self._sagemaker, self._ssm, self._hosted = sagemaker, ssm, hosted

    def of(self, side: SidePlace) -> Side:
        """What serves there. SageMaker goes back by itself, and says so nowhere but in the model that serves."""
        state = read(self._sagemaker, self._hosted.endpoint)
        variant = state.variants.get(side.service)
        running = frozenset({variant.model} if variant and variant.instances else ())
        return Side(versions=running, is_settled=state.is_settled)

    def tasks(self, side: SidePlace) -> tuple[str, ...]:
        """None: nobody measures what runs on SageMaker's instances."""
        return ()

    def target(self, side: SidePlace) -> str:
        """The model that the variant is told to run; empty where there is to be no such variant."""
        return read(self._sagemaker, self._hosted.endpoint).coming.get(side.service, "")

    def run(self, side: SidePlace, version: str) -> None:
        """Make the variant run ``version``; a candidate that is not there yet comes with as many instances as serve.

        Raises:
            BusyError: another change is under way.
        """
        state = read(self._sagemaker, self._hosted.endpoint)
        state.must_be_settled()
        variants: Mapping[str, Variant] = state.variants
        stable = variants[STABLE]
        new = replace(stable, name=CANDIDATE, wanted_weight=0.0)
        changed = {**variants, side.service: replace(variants.get(side.service, new), model=version)}
        reconfigure(self._sagemaker, self._hosted, state, [changed[name] for name in sorted(changed, reverse=True)])

    def newest(self, place: RolloutPlace) -> str:
        """What was deployed last."""
        return str(self._ssm.get_parameter(Name=self._hosted.declared)["Parameter"]["Value"])

    def register(self, place: RolloutPlace, image: str) -> str:
        """What was deployed last, with another image."""
        container = {**self._hosted.model["PrimaryContainer"], "Image": image}
        request: dict[str, Any] = {**self._hosted.model, "PrimaryContainer": container}
        name = model_name(self._hosted, request)
        try:
            self._sagemaker.create_model(ModelName=name, Tags=tags(self._hosted), **request)
        except ClientError as error:
            if not is_there(error):
                raise
        return name

    def keep(self, place: RolloutPlace, version: str) -> None:
        """Nothing: no deployment says what the endpoint serves once it is there."""


class CandidateInstances:
    """The candidate's instances, which come and go with its variant; the endpoint's own scaling waits for it."""

    def __init__(
        self, sagemaker: "SageMakerClient", scaling: "ApplicationAutoScalingClient", hosted: HostedPlace
    ) -> None:
        self._sagemaker, self._scaling, self._hosted = sagemaker, scaling, hosted
        self._resource = f"endpoint/{hosted.endpoint}/variant/{STABLE}"

    def ask_for(self, side: SidePlace, nodes: int) -> None:
        """Let the candidate go. Its instances came with it, all at once, whatever the share.

        Raises:
            BusyError: it is still there, and paid for.
        """
        if nodes:
            return
        state = read(self._sagemaker, self._hosted.endpoint)
        if CANDIDATE in state.variants or CANDIDATE in state.coming:
            reconfigure(self._sagemaker, self._hosted, state, [state.variants[STABLE]])
            before = f"; it went back from that before: {state.failure}" if state.failure else ""
            raise BusyError(f"SageMaker takes the candidate's instances away{before}")

    def lacking(self, side: SidePlace) -> str:
        """Why the candidate is not there; empty while it still may come.

        An update that fails ends as if nothing had been asked, and not always with a reason. One that is shown
        while the next attempt is under way is of an earlier one, perhaps of another version.
        """
        state = read(self._sagemaker, self._hosted.endpoint)
        if CANDIDATE in state.variants or CANDIDATE in state.coming or not state.is_settled:
            return ""
        return f"SageMaker went back by itself: {state.failure or 'it gives no reason'}"

    def wanted(self, side: SidePlace) -> int:
        """How many instances its variant is to have."""
        variant = read(self._sagemaker, self._hosted.endpoint).variants.get(side.service)
        return variant.wanted_instances if variant else 0

    def let_scale(self, side: SidePlace, scales: bool) -> None:
        """Let the stable variant follow the load or not; the target's other settings are the deployment's."""
        wanted = _suspended(not scales)
        found = self._suspended()
        if found is not None and found != wanted:
            self._scaling.register_scalable_target(
                ServiceNamespace=_SPACE,
                ResourceId=self._resource,
                ScalableDimension=_DIMENSION,
                SuspendedState=wanted,
            )

    def stands_still(self, side: SidePlace) -> bool:
        """Whether nothing scales the stable variant."""
        found = self._suspended()
        return found is not None and all(found.values())

    def _suspended(self) -> "SuspendedStateTypeDef | None":
        """What the variant's scalable target has suspended; None where it has no target."""
        targets = self._scaling.describe_scalable_targets(
            ServiceNamespace=_SPACE, ResourceIds=[self._resource], ScalableDimension=_DIMENSION
        )["ScalableTargets"]
        return {**_suspended(False), **targets[0].get("SuspendedState", {})} if targets else None


def _suspended(is_suspended: bool) -> "SuspendedStateTypeDef":
    return {
        "DynamicScalingInSuspended": is_suspended,
        "DynamicScalingOutSuspended": is_suspended,
        "ScheduledScalingSuspended": is_suspended,
    }
