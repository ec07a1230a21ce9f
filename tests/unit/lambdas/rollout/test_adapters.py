"""Which sides a rollout looks at is the place's business."""

import pytest

from lambdas.rollout import adapters
from lambdas.rollout.figures import VariantFigures
from lambdas.rollout.sagemaker.sides import CandidateInstances, Models, VariantWeights
from tests.support.hosted_world import HOSTED
from tests.support.rollout_world import Endpoint


def test_a_hosted_endpoint_has_sagemakers_sides_and_everything_else_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    ours = Endpoint().dependencies()
    aws = adapters.of_sagemaker(ours, HOSTED)

    kinds = [type(each) for each in (aws.balancer, aws.services, aws.nodes, aws.measured)]
    assert kinds == [VariantWeights, Models, CandidateInstances, VariantFigures]
    assert (aws.store, aws.artifacts, aws.executions) == (ours.store, ours.artifacts, ours.executions)
