"""The candidate's instances, which come and go with its variant, and the endpoint's own scaling, which waits for it."""

from typing import Final

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.rollout.facts import HostedPlace, SidePlace
from lambdas.rollout.clients import SageMakerClient, ScalingClient
from lambdas.rollout.ports import BusyError
from lambdas.rollout.sagemaker.change import reconfigure
from lambdas.rollout.sagemaker.state import read

_SPACE: Final = {"ServiceNamespace": "sagemaker"}
_DIMENSION: Final = "sagemaker:variant:DesiredInstanceCount"
_SUSPENSIONS: Final = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")


class CandidateInstances:
    """SageMaker, and Application Auto Scaling."""

    def __init__(self, sagemaker: SageMakerClient, scaling: ScalingClient, hosted: HostedPlace) -> None:
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
        wanted = dict.fromkeys(_SUSPENSIONS, not scales)
        found = self._suspended()
        if found is not None and found != wanted:
            self._scaling.register_scalable_target(
                **_SPACE, ResourceId=self._resource, ScalableDimension=_DIMENSION, SuspendedState=wanted
            )

    def stands_still(self, side: SidePlace) -> bool:
        """Whether nothing scales the stable variant."""
        found = self._suspended()
        return found is not None and all(found.values())

    def _suspended(self) -> dict[str, bool] | None:
        """What the variant's scalable target has suspended; None where it has no target."""
        asked = {**_SPACE, "ResourceIds": [self._resource], "ScalableDimension": _DIMENSION}
        targets = self._scaling.describe_scalable_targets(**asked)["ScalableTargets"]
        if not targets:
            return None
        found: dict[str, bool] = targets[0].get("SuspendedState", {})
        return {each: found.get(each, False) for each in _SUSPENSIONS}
