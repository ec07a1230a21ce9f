"""The weights of the two variants, as they serve, and how many instances answer."""

from botocore.exceptions import ClientError

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.rollout.facts import HostedPlace, RolloutPlace, SidePlace
from lambdas.rollout.clients import SageMakerClient
from lambdas.rollout.ports import BusyError
from lambdas.rollout.sagemaker.change import or_busy
from lambdas.rollout.sagemaker.state import EndpointLostError, EndpointState, read


class VariantWeights:
    """SageMaker's router."""

    def __init__(self, sagemaker: SageMakerClient, hosted: HostedPlace) -> None:
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
        desired = [{"VariantName": name, "DesiredWeight": float(weight)} for name, weight in wanted.items()]
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
