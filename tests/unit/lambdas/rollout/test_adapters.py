"""Which sides a rollout looks at is the place's business."""

import pytest

from lambdas.rollout import adapters
from lambdas.rollout.sagemaker.balancer import VariantWeights
from lambdas.rollout.sagemaker.measured import VariantFigures
from lambdas.rollout.sagemaker.nodes import CandidateInstances
from lambdas.rollout.sagemaker.services import Models
from tests.support.hosted_world import HOSTED
from tests.support.rollout_world import Endpoint


def test_a_hosted_endpoint_has_sagemakers_sides_and_everything_else_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    ours = Endpoint().world()
    world = adapters.hosted_world(ours, HOSTED)

    kinds = [type(each) for each in (world.balancer, world.services, world.nodes, world.measured)]
    assert kinds == [VariantWeights, Models, CandidateInstances, VariantFigures]
    assert (world.store, world.artifacts, world.executions) == (ours.store, ours.artifacts, ours.executions)
