"""`fleet rollout`: what it shows, its exit codes, and one line for what cannot be done."""

import io
import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from typer.testing import CliRunner, Result

from cli.main import app
from fleet.shadow.comparison import Comparison, Latency
from fleet.shadow.gate import said

REPORT: dict[str, Any] = {
    "rollout_id": "r1", "fleet": "inf2-chat", "phase": "baking", "step": 25, "is_over": False, "is_paused": False,
    "outcome": None, "reason": "", "waits_for": "baked 3.0 of 10 minutes", "weights": {"stable": 75, "candidate": 25},
    "healthy": {"stable": 4, "candidate": 1}, "serves": ["arn:aws:ecs:r:a:task-definition/chat:7"], "is_true": True,
    "is_driven": True, "history": [{"at": "2026-11-22T09:00:00+00:00", "text": "began"}],
}  # fmt: skip


class Lambda:
    """Answers one report after the other."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers, self.asked = list(answers), list[dict[str, Any]]()

    def client(self, service: str, **_: object) -> "Lambda":
        assert service in {"lambda", "sts"}
        return self

    def get_caller_identity(self) -> dict[str, str]:
        return {"Arn": "arn:aws:iam::111122223333:role/ann"}

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - as AWS names it
        assert FunctionName == "neuron-fleet-prod-rollout"
        self.asked.append(json.loads(Payload))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        error = {"FunctionError": "Unhandled"} if "errorMessage" in answer else {}
        return {"Payload": io.BytesIO(json.dumps(answer).encode()), **error}


def run(monkeypatch: pytest.MonkeyPatch, engine: Lambda, *arguments: str) -> Result:
    monkeypatch.setattr(boto3, "client", engine.client)
    monkeypatch.setattr("cli.rollout._LOOK_SECONDS", 0)
    return CliRunner().invoke(app, ["rollout", *arguments])


@pytest.mark.parametrize(("outcome", "code"), [(None, 0), ("done", 0), ("rolled back", 3), ("held", 4)])
def test_the_exit_code_says_how_it_ended(monkeypatch: pytest.MonkeyPatch, outcome: str | None, code: int) -> None:
    report = {**REPORT, "outcome": outcome, "is_over": outcome is not None, "reason": "2.0 % were 5xx"}
    answer = run(monkeypatch, Lambda(report), "status", "prod", "inf2-chat")

    assert answer.exit_code == code
    assert "why        2.0 % were 5xx" in answer.stdout


def test_it_shows_shares_health_and_what_really_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = run(monkeypatch, Lambda(REPORT), "status", "prod", "inf2-chat")

    assert "rollout r1: baking, 25 %" in answer.stdout
    assert "candidate   25 %  healthy targets: 1" in answer.stdout
    assert "serves     chat:7" in answer.stdout
    assert "waits for  baked 3.0 of 10 minutes" in answer.stdout


def test_it_shows_what_came_of_recorded_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Comparison("chat:8", "t1", "chat:7", equal=99, different=1, latency=Latency(0.2, 0.3, 0.21, 0.31))
    shadow = [{"said": said(compared)}]
    answer = run(monkeypatch, Lambda({**REPORT, "shadow": shadow}), "status", "prod", "inf2-chat")

    assert "shadow     99 of 100 answers as chat:7's, 1 different, 0 failed; p50 0.210 s" in answer.stdout


@pytest.mark.parametrize(("options", "told"), [([], None), (["--without-shadow"], "true")])
def test_a_start_waits_for_recorded_requests_unless_it_is_told_not_to(
    monkeypatch: pytest.MonkeyPatch, options: list[str], told: str | None
) -> None:
    engine = Lambda(REPORT)
    run(monkeypatch, engine, "start", "prod", "inf2-chat", *options)

    assert [each.get("without_shadow") for each in engine.asked if each.get("action") == "start"] == [told]


def test_it_says_when_nobody_looks_and_when_somebody_else_has_changed_what_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = {**REPORT, "is_driven": False, "is_true": False}
    answer = run(monkeypatch, Lambda(report), "status", "prod", "inf2-chat")

    assert "nobody looks after it" in answer.stdout
    assert "somebody else has changed it" in answer.stdout


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"stands_still": True}, "  scaling    suspended: no load moves its nodes"),
        (
            {"stands_still": True, "outcome": "held", "is_over": True},
            "  scaling    suspended until it is resumed or aborted: no load moves its nodes",
        ),
        ({"stands_still": False}, None),
    ],
)
def test_it_says_that_no_load_moves_its_nodes(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], line: str | None
) -> None:
    answer = run(monkeypatch, Lambda({**REPORT, **changed}), "status", "prod", "inf2-chat")

    assert [each for each in answer.stdout.splitlines() if "scaling" in each] == ([line] if line else [])


def test_following_shows_every_change_once_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    began = REPORT["history"]
    over = {**REPORT, "is_over": True, "outcome": "done", "history": [*began, {**began[0], "text": "done"}]}
    engine = Lambda(REPORT, REPORT, over)
    answer = run(monkeypatch, engine, "start", "prod", "inf2-chat", "--follow", "--json")

    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["outcome"] == "done"
    assert answer.stderr.count("began") == 1
    assert engine.asked[0]["who"] == "arn:aws:iam::111122223333:role/ann"
    assert [each["action"] for each in engine.asked] == ["start", "status", "status"]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"refused": "one at a time"}, "refused: one at a time"),
        ({"errorMessage": "Task timed out after 90.00 seconds"}, "Task timed out"),
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke"), "has no rollout function: deploy it"),
        (
            EndpointConnectionError(endpoint_url="https://lambda"),
            "AWS did not answer lambda:Invoke of neuron-fleet-prod-rollout in us-east-2: Could not connect",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(monkeypatch: pytest.MonkeyPatch, answer: Any, line: str) -> None:
    found = run(monkeypatch, Lambda(answer), "abort", "prod", "inf2-chat")

    assert found.exit_code == 1
    assert line in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_a_fleet_that_serves_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, Lambda(REPORT), "start", "prod", "trn1-pretrain")

    assert found.exit_code == 1
    assert "no inference fleet of prod; known: inf2-chat" in found.stderr
