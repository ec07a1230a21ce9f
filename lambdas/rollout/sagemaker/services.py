"""Which model each variant runs, and is told to run. A version of an endpoint is a model, by its name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.rollout.facts import HostedPlace, RolloutPlace, Side, SidePlace
from lambdas.rollout.clients import SageMakerClient, SsmClient
from lambdas.rollout.sagemaker.change import is_there, model_name, reconfigure
from lambdas.rollout.sagemaker.state import Variant, read


class Models:
    """SageMaker, and the parameter that names the model that was deployed last."""

    def __init__(self, sagemaker: SageMakerClient, ssm: SsmClient, hosted: HostedPlace) -> None:
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
        tags = [{"Key": key, "Value": value} for key, value in self._hosted.tags.items()]
        try:
            self._sagemaker.create_model(ModelName=name, Tags=tags, **request)
        except ClientError as error:
            if not is_there(error):
                raise
        return name

    def keep(self, place: RolloutPlace, version: str) -> None:
        """Nothing: no deployment says what the endpoint serves once it is there."""
