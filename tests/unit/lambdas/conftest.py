"""AWS clients that answer what a test says, in its order, and refuse any other call."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber


@pytest.fixture
def stubbed() -> Iterator[Callable[[str], tuple[Any, Stubber]]]:
    stubbers: list[Stubber] = []

    def make(service: str) -> tuple[Any, Stubber]:
        once = Config(retries={"total_max_attempts": 1})
        # The stubs know each service by its literal name only.
        client = boto3.session.Session().client(service, region_name="us-east-2", config=once)  # type: ignore[call-overload]
        stubbers.append(Stubber(client))
        stubbers[-1].activate()
        return client, stubbers[-1]

    yield make
    for stubber in stubbers:
        stubber.assert_no_pending_responses()
