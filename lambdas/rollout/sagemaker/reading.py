"""SageMaker as one look reads it: each thing once, and again after a change.

A look asks a dozen questions of the same endpoint. How often a second an account may describe endpoints is a quota
("Rate of DescribeEndpoint requests"), which whoever else watches endpoints there uses as well.
"""

import json
from collections.abc import Callable
from typing import Any

from lambdas.rollout.clients import SageMakerClient

Answer = dict[str, Any]


class OneReading:
    """A client of SageMaker for one look, and no longer: nothing that it has read is ever too old."""

    def __init__(self, sagemaker: SageMakerClient) -> None:
        self._sagemaker = sagemaker
        self._endpoints: dict[str, Answer] = {}
        self._configurations: dict[str, Answer] = {}

    def describe_endpoint(self, **request: object) -> Answer:
        """DescribeEndpoint."""
        return _once(self._endpoints, self._sagemaker.describe_endpoint, request)

    def describe_endpoint_config(self, **request: object) -> Answer:
        """DescribeEndpointConfig: what has a name never changes."""
        return _once(self._configurations, self._sagemaker.describe_endpoint_config, request)

    def create_endpoint_config(self, **request: object) -> Answer:
        """CreateEndpointConfig."""
        return self._sagemaker.create_endpoint_config(**request)

    def create_model(self, **request: object) -> Answer:
        """CreateModel."""
        return self._sagemaker.create_model(**request)

    def update_endpoint(self, **request: object) -> Answer:
        """UpdateEndpoint."""
        # Before the call: where its answer is lost, it may have been done.
        self._endpoints.clear()
        return self._sagemaker.update_endpoint(**request)

    def update_endpoint_weights_and_capacities(self, **request: object) -> Answer:
        """UpdateEndpointWeightsAndCapacities."""
        self._endpoints.clear()
        return self._sagemaker.update_endpoint_weights_and_capacities(**request)


def _once(known: dict[str, Answer], ask: Callable[..., Answer], request: dict[str, object]) -> Answer:
    key = json.dumps(request, sort_keys=True)
    if key not in known:
        known[key] = ask(**request)
    return known[key]
