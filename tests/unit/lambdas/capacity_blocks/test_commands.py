"""A person's command: who asks is proved, the price is EC2's, and everything unclear ends without a purchase."""

import json
import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleet.approval import RefusedError
from fleet.blocks.offering import Offering, Search
from fleet.blocks.purchase import Request
from lambdas.capacity_blocks import adapters, commands, handler
from lambdas.capacity_blocks.adapters import Settings
from lambdas.capacity_blocks.commands import Command
from lambdas.shared import identity
from tests.support import block_world
from tests.support.block_world import APPROVER, BEGIN, DEPLOYED, FLEET, REQUESTER, STRANGER, Simulated, Trouble

OFFER = block_world.request(BEGIN + timedelta(hours=2), 24).offering
WISH = {
    "fleet": FLEET,
    "offering_id": "cbo-1",
    "instances": 2,
    "hours": 24,
    "earliest": BEGIN.isoformat(),
    "latest": (BEGIN + timedelta(days=7)).isoformat(),
}


class Here:
    """The engine over a simulated world, in which a signature is the name of who signed and of what."""

    def __init__(self, offered: Offering | None = OFFER) -> None:
        self.parts = Simulated(Trouble(random.Random(1)))  # noqa: S311 - a simulation
        self.searches: list[Search] = []

        def offering(search: Search, offering_id: str) -> Offering | None:
            self.searches.append(search)
            return offered if offered and offered.offering_id == offering_id else None

        self.parts.market.offering = offering  # type: ignore[method-assign]  # a market with one offer

    def ask(self, action: str, who: str, request_id: str = "r1", **more: Any) -> dict[str, Any]:
        command = Command(action=action, request_id=request_id, signed_url=f"{who} prod/{action}/{request_id}", **more)
        return commands.run(command, "prod", self.parts.aws, self._who, self.parts.now)

    def _who(self, url: str, bound_to: str) -> str:
        who, _, signed = url.partition(" ")
        if signed != bound_to:
            raise RefusedError("STS does not accept the signature: HTTP 403")
        return who


def test_a_request_is_approved_by_another_person_and_bought_at_once() -> None:
    here = Here()

    (asked,) = here.ask("request", REQUESTER, wish=WISH)["requests"]
    (bought,) = here.ask("approve", APPROVER)["requests"]

    assert (asked["status"], asked["requested_by"], asked["offering"]["fee_usd"]) == ("requested", REQUESTER, 1700.0)
    assert (bought["status"], bought["reservation_id"]) == ("purchased", "cr-r1")
    assert here.searches == [Search("trn2.48xlarge", 2, 24, BEGIN, BEGIN + timedelta(days=7))]
    assert [r["request_id"] for r in here.ask("list", "")["requests"]] == ["r1"]
    json.dumps(here.ask("list", ""))


@pytest.mark.parametrize(("who", "why"), [(STRANGER, "may not approve"), (REQUESTER, "may not approve")])
def test_who_is_not_named_approves_nothing(who: str, why: str) -> None:
    here = Here()
    here.ask("request", REQUESTER, wish=WISH)

    assert why in here.ask("approve", who)["refused"]
    assert here.parts.market.purchases == {}


def test_without_approvers_nothing_can_be_bought() -> None:
    here = Here()
    here.parts.aws = replace(here.parts.aws, approvers=frozenset())
    here.ask("request", REQUESTER, wish=WISH)

    assert "nobody is named" in here.ask("approve", APPROVER)["refused"]


def test_a_signature_for_a_rejection_does_not_approve() -> None:
    here = Here()
    here.ask("request", REQUESTER, wish=WISH)
    command = Command(action="approve", request_id="r1", signed_url=f"{APPROVER} prod/reject/r1")

    answer = commands.run(command, "prod", here.parts.aws, here._who, BEGIN)

    assert answer == {"refused": "STS does not accept the signature: HTTP 403"}


@pytest.mark.parametrize(
    ("change", "offered", "why"),
    [
        ({"fleet": "pretrain"}, OFFER, "no training fleet whose market is capacity-block"),
        ({"offering_id": "cbo-2"}, OFFER, "does not offer cbo-2 any more"),
        ({}, None, "does not offer cbo-1 any more"),
        ({}, replace(OFFER, availability_zone="us-east-2c"), "in us-east-2c, and the fleet in us-east-2a"),
    ],
)
def test_what_cannot_be_used_cannot_be_asked_for(change: dict[str, Any], offered: Offering | None, why: str) -> None:
    here = Here(offered)

    assert why in here.ask("request", REQUESTER, wish={**WISH, **change})["refused"]
    assert here.parts.store.records == {}


def test_an_id_that_is_taken_is_not_written_over() -> None:
    here = Here()
    here.ask("request", REQUESTER, wish=WISH)

    assert "changed at this very moment" in here.ask("request", STRANGER, wish=WISH)["refused"]
    assert here.parts.store.records["r1"].request.requested_by == REQUESTER


def test_anybody_may_reject_until_it_is_bought() -> None:
    here = Here()
    here.ask("request", REQUESTER, wish=WISH)
    assert here.ask("reject", STRANGER)["requests"][0]["status"] == "rejected"
    assert "is rejected" in here.ask("approve", APPROVER)["refused"]
    assert "there is no request r2" in here.ask("reject", STRANGER, "r2")["refused"]


def environ() -> dict[str, str]:
    place = {
        "compute_environment": "ce",
        "queue": "queue",
        "vcpus": 192,
        "instance_type": "trn2.48xlarge",
        "availability_zone": "us-east-2a",
        "reservation_id": "cr-r1",
    }
    return {
        "ENVIRONMENT": "prod",
        "TABLE": "requests",
        "TICKET_TOPIC": "topic",
        "NODE_LOG_GROUP": "group",
        "STS_HOST": "sts.us-east-2.amazonaws.com",
        "APPROVERS": json.dumps(["arn:aws:iam::111122223333:role/team/approver"]),
        "PLACES": json.dumps({FLEET: place}),
        "AWS_DEFAULT_REGION": "us-east-2",
    }


def test_approvers_are_named_as_callers_are() -> None:
    settings = Settings.load(environ())

    assert settings.approvers == {APPROVER}
    assert settings.fleets == {FLEET: DEPLOYED}


def test_a_purchase_is_tried_once_and_everything_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, list[Any]] = {}

    def client(service: str, config: object) -> object:
        made.setdefault(service, []).append(config)
        return object()

    monkeypatch.setattr("boto3.client", client)

    adapters.dependencies(Settings.load(environ()))

    assert [config.retries["total_max_attempts"] for config in made["ec2"]] == [1, 3]
    assert all(config.connect_timeout <= 2 and config.read_timeout <= 30 for each in made.values() for config in each)


def test_sts_that_does_not_answer_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def request(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("http.client.HTTPSConnection.request", request)

    with pytest.raises(RefusedError, match="STS does not answer: TimeoutError"):
        identity.get("https://sts.us-east-2.amazonaws.com/?Action=GetCallerIdentity", {})


class Context:
    aws_request_id = "1"


def test_the_handler_looks_on_the_clock_and_on_events_and_answers_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Here()
    looked: list[object] = []

    def look(*_: object) -> list[str]:
        looked.append(1)
        return ["request r1: broken"]

    monkeypatch.setattr(handler, "_settings", lambda: Settings.load(environ()))
    monkeypatch.setattr(handler, "_dependencies", lambda: here.parts.aws)
    monkeypatch.setattr("lambdas.capacity_blocks.service.look", look)
    context: Any = Context()

    for event in ({"source": "aws.events"}, {"source": "aws.ec2", "detail-type": "Capacity Block Delivered"}):
        assert handler.lambda_handler(event, context) == {"problems": ["request r1: broken"]}
    refused = handler.lambda_handler({"action": "approve", "request_id": "A B", "signed_url": "secret-url"}, context)

    assert len(looked) == 2
    assert "request_id: String should match pattern" in refused["refused"]
    assert "secret-url" not in capsys.readouterr().out


def test_a_request_reads_back_from_the_answer() -> None:
    here = Here()
    (asked,) = here.ask("request", REQUESTER, wish=WISH)["requests"]
    assert commands._REQUEST.validate_python(asked) == Request("r1", FLEET, OFFER, REQUESTER, BEGIN)
