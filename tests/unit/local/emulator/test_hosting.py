"""SageMaker as the embedded AWS has it: one change at a time, and a way back that says nothing but why."""

from typing import Any

import pytest

from local.emulator.api.errors import AwsError
from local.emulator.hosting.service import Hosting

REGION = "us-east-2"


class Account:
    def __init__(self) -> None:
        self.now, self.sick = 0.0, set[str]()
        self.hosting = Hosting("1", lambda: self.now, 10, 1, lambda variant: variant["ModelName"] not in self.sick)
        for model in ("old", "new"):
            self.ask("CreateModel", ModelName=model)
        self.configure("first", ("stable", "old"))
        self.ask("CreateEndpoint", EndpointName="chat", EndpointConfigName="first")
        self.now = 10

    def ask(self, operation: str, **asked: Any) -> dict[str, Any]:
        return self.hosting.operations()[operation](REGION, asked)

    def configure(self, name: str, *variants: tuple[str, str]) -> None:
        production = [
            {"VariantName": variant, "ModelName": model, "InitialInstanceCount": 2, "InitialVariantWeight": 1.0}
            for variant, model in variants
        ]
        self.ask("CreateEndpointConfig", EndpointConfigName=name, ProductionVariants=production)

    def update(self, name: str) -> None:
        self.ask("UpdateEndpoint", EndpointName="chat", EndpointConfigName=name)

    @property
    def endpoint(self) -> dict[str, Any]:
        return self.ask("DescribeEndpoint", EndpointName="chat")


def test_an_update_is_pending_until_its_time_and_nothing_else_is_taken() -> None:
    account = Account()
    account.configure("both", ("stable", "old"), ("candidate", "new"))
    account.update("both")

    assert (account.endpoint["EndpointStatus"], account.endpoint["EndpointConfigName"]) == ("Updating", "first")
    assert account.endpoint["PendingDeploymentSummary"]["EndpointConfigName"] == "both"
    with pytest.raises(AwsError, match="in-progress"):
        account.update("first")
    account.now += 10
    assert {each["VariantName"] for each in account.endpoint["ProductionVariants"]} == {"stable", "candidate"}


def test_an_update_that_fails_is_in_service_and_only_its_reason_tells() -> None:
    account = Account()
    account.sick = {"new"}
    account.configure("sick", ("stable", "new"))
    account.update("sick")
    account.now += 10

    assert (account.endpoint["EndpointStatus"], account.endpoint["EndpointConfigName"]) == ("InService", "first")
    assert "ping health check" in account.endpoint["FailureReason"]


def test_an_endpoint_that_never_came_up_stays_failed() -> None:
    account = Account()
    account.sick = {"new"}
    account.configure("sick", ("stable", "new"))
    account.ask("CreateEndpoint", EndpointName="code", EndpointConfigName="sick")
    account.now += 10

    seen = [account.ask("DescribeEndpoint", EndpointName="code")["EndpointStatus"] for _ in range(2)]
    assert seen == ["Failed", "Failed"]
    # SageMaker API reference, DescribeEndpoint: "DeleteEndpoint is the only operation" on such a one.
    with pytest.raises(AwsError):
        account.ask("UpdateEndpoint", EndpointName="code", EndpointConfigName="first")


def test_weights_are_desired_first_and_current_later() -> None:
    account = Account()
    change = [{"VariantName": "stable", "DesiredWeight": 7.0}]
    account.ask("UpdateEndpointWeightsAndCapacities", EndpointName="chat", DesiredWeightsAndCapacities=change)

    (variant,) = account.endpoint["ProductionVariants"]
    assert (variant["DesiredWeight"], variant["CurrentWeight"]) == (7.0, 1.0)
    account.now += 1
    assert account.endpoint["ProductionVariants"][0]["CurrentWeight"] == 7.0


@pytest.mark.parametrize(
    ("operation", "asked", "words"),
    [
        ("CreateModel", {"ModelName": "old"}, "already existing model"),
        ("CreateEndpoint", {"EndpointName": "chat", "EndpointConfigName": "first"}, "already existing endpoint"),
        ("UpdateEndpoint", {"EndpointName": "chat", "EndpointConfigName": "none"}, "Could not find"),
        ("DescribeEndpoint", {"EndpointName": "none"}, "Could not find"),
    ],
)
def test_what_sagemaker_refuses_is_refused_in_its_words(operation: str, asked: dict[str, str], words: str) -> None:
    with pytest.raises(AwsError, match=words):
        Account().ask(operation, **asked)
