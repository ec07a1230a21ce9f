"""`fleet capacity` finds offers, proves who asks, and passes on what the engine answers or refuses."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner, Result

from cli import block_engine
from cli.main import app
from lambdas.capacity_blocks.commands import Command
from lambdas.shared import identity
from tests.support.aws_fakes import client_error

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
REQUEST = {
    "request_id": "r1",
    "fleet": "trn2-frontier",
    "status": "requested",
    "reservation_id": None,
    "requested_at": "2026-11-21T10:03:00Z",
    "requested_by": "arn:aws:iam::111122223333:user/ada",
    "approved_by": None,
    "reason": None,
    "is_adopted": False,
    "offering": {
        "offering_id": "cbo-1",
        "instance_type": "trn2.48xlarge",
        "instances": 8,
        "start": "2026-12-01T11:30:00Z",
        "end": "2026-12-02T11:30:00Z",
        "fee_usd": 6866.0,
    },
}


def offer(offering_id: str, fee: str, zone: str = "us-east-2a") -> dict[str, Any]:
    return {
        "CapacityBlockOfferingId": offering_id,
        "InstanceType": "trn2.48xlarge",
        "InstanceCount": 8,
        "AvailabilityZone": zone,
        "StartDate": START,
        "EndDate": START + timedelta(hours=24),
        "UpfrontFee": fee,
    }


class Cloud:
    """EC2 with two pages of offers, and the engine with one answer."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {"requests": [REQUEST]}
        self.function_error: str | None = None
        self.error: Exception | None = None
        self.invoked: list[dict[str, Any]] = []
        self.searched: list[dict[str, Any]] = []

    def describe_capacity_block_offerings(self, **request: Any) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.searched.append(request)
        if "NextToken" in request:
            return {"CapacityBlockOfferings": [offer("cbo-cheap", "6144.0"), offer("cbo-far", "1.0", "us-east-2c")]}
        return {"CapacityBlockOfferings": [offer("cbo-dear", "6866.0")], "NextToken": "more"}

    def invoke(self, **request: Any) -> dict[str, Any]:
        if self.error:
            raise self.error
        assert request["FunctionName"] == "neuron-fleet-prod-capacity-blocks"
        self.invoked.append(json.loads(request["Payload"]))
        failed = {"FunctionError": self.function_error} if self.function_error else {}
        return {"Payload": io.BytesIO(json.dumps(self.answer).encode()), **failed}


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = Cloud()
    monkeypatch.setattr("boto3.client", lambda *_, **__: made)
    monkeypatch.setattr(block_engine, "signed_url", lambda region, bound_to: f"{region} {bound_to}")
    return made


def capacity(*arguments: str, text: str = "") -> Result:
    return CliRunner().invoke(app, ["capacity", *arguments], input=text)


def test_offers_of_the_fleets_zone_are_ranked_by_the_core_hour(cloud: Cloud) -> None:
    answer = capacity("search", "prod", "trn2-frontier", "--json")

    offers = json.loads(answer.stdout)
    assert [each["offering_id"] for each in offers] == ["cbo-cheap", "cbo-dear"]
    # 6,144 dollars for 8 instances of 128 cores and 24 hours: 0.25 dollars a core-hour.
    assert offers[0]["usd_per_core_hour"] == 0.25
    first = cloud.searched[0]
    assert (first["InstanceType"], first["InstanceCount"], first["CapacityDurationHours"]) == ("trn2.48xlarge", 8, 24)
    assert first["EndDateRange"] - first["StartDateRange"] == timedelta(days=29)
    assert capacity("search", "prod", "trn2-frontier").exit_code == 0


def test_a_request_is_a_command_that_the_engine_understands(cloud: Cloud) -> None:
    answer = capacity("request", "prod", "trn2-frontier", "cbo-1", "--hours", "48", "--instances", "4", "--json")

    assert json.loads(answer.stdout) == [REQUEST]
    (payload,) = cloud.invoked
    command = Command.model_validate(payload)
    assert command.wish is not None
    assert (command.wish.offering_id, command.wish.instances, command.wish.hours) == ("cbo-1", 4, 48)
    assert command.signed_url == f"us-east-2 prod/request/{command.request_id}"


def test_an_approval_says_what_is_bought_and_asks_back(cloud: Cloud) -> None:
    refused = capacity("approve", "prod", "r1", text="n\n")
    assert refused.exit_code == 1
    assert "Buy 8 x trn2.48xlarge for trn2-frontier" in refused.stdout
    assert "$6,866.00 (Capacity Block fee, as offered 2026-11-21)? It cannot be cancelled" in refused.stdout
    assert [each["action"] for each in cloud.invoked] == ["list"]

    assert capacity("approve", "prod", "r1", text="y\n").exit_code == 0
    assert capacity("approve", "prod", "r1", "--yes").exit_code == 0
    assert capacity("reject", "prod", "r1").exit_code == 0
    assert [each["action"] for each in cloud.invoked] == ["list", "list", "approve", "approve", "reject"]
    assert "there is no request r9" in capacity("approve", "prod", "r9").stderr


def test_requests_are_listed(cloud: Cloud) -> None:
    assert json.loads(capacity("list", "prod", "--json").stdout) == [REQUEST]
    assert capacity("list", "prod").exit_code == 0


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (client_error("ResourceNotFoundException", "Invoke"), "environment prod has no Capacity Block engine"),
        (
            client_error("AccessDeniedException", "Invoke"),
            "these credentials may not call lambda:Invoke of neuron-fleet-prod-capacity-blocks",
        ),
        (
            EndpointConnectionError(endpoint_url="https://lambda"),
            "AWS did not answer lambda:Invoke of neuron-fleet-prod-capacity-blocks in us-east-2: Could not connect",
        ),
    ],
)
def test_what_aws_does_not_do_is_one_line(cloud: Cloud, error: Exception, line: str) -> None:
    cloud.error = error
    for command in (["list", "prod"], ["reject", "prod", "r1"]):
        answer = capacity(*command)
        assert answer.exit_code == 1
        assert answer.stderr.startswith(line)
        assert "Traceback" not in answer.output
    assert capacity("search", "prod", "trn2-frontier").stderr.startswith(("AWS ", "these credentials"))


def test_a_refusal_and_a_failure_of_the_engine_are_passed_on(cloud: Cloud) -> None:
    cloud.answer = {"refused": "eve may not approve purchases"}
    assert capacity("approve", "prod", "r1", "--yes").stderr == "refused: eve may not approve purchases\n"
    cloud.answer, cloud.function_error = {"errorType": "Timeout"}, "Unhandled"
    assert capacity("list", "prod").stderr == "the engine failed (Timeout); its log says why\n"


def test_only_fleets_in_capacity_blocks_can_have_one(cloud: Cloud) -> None:
    answer = capacity("search", "prod", "trn1-pretrain")
    assert answer.exit_code == 1
    assert "known: trn2-frontier" in answer.stderr
    assert "there is no environment 'nowhere'" in capacity("list", "nowhere").stderr


def test_the_engine_takes_the_signature_that_the_command_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    asked: list[dict[str, str]] = []
    arn = {"GetCallerIdentityResponse": {"GetCallerIdentityResult": {"Arn": "arn:aws:iam::111122223333:user/ada"}}}

    def get(url: str, headers: Any) -> tuple[int, bytes]:
        asked.append(dict(headers))
        return 200, json.dumps(arn).encode()

    url = block_engine.signed_url("us-east-2", "prod/approve/r1")

    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["60"]
    who = identity.caller(url, "sts.us-east-2.amazonaws.com", "prod/approve/r1", get)
    assert who == "arn:aws:iam::111122223333:user/ada"
    assert asked[0]["x-neuron-fleet-request"] == "prod/approve/r1"
