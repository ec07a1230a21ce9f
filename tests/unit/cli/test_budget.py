"""`fleet budget`: where the month stands, and one line where nothing can be said."""

import io
import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner, Result

from cli.main import app
from tests.support.aws_fakes import client_error

ROW = {
    "owner": None, "budget_usd": 1000.0, "spent_usd": 640.5, "rate_usd_per_hour": None, "forecast_usd": None,
    "forecast_percent": None, "unpriced_node_hours": 2.0, "days_missing": ["2026-11-05"],
    "prices": [["on-demand", "2026-08-01"]],
}  # fmt: skip
KNOWN = {**ROW, "owner": "ana", "rate_usd_per_hour": 2.5, "forecast_usd": 1200.0, "forecast_percent": 120.0}
STOP = {"month": "2026-11", "standing": "stopped", "since": "2026-11-20T12:35:00+00:00", "by": "arn:ada"}
ANSWER = {"budgets": [ROW, KNOWN], "stop": STOP, "closed": ["small"], "may_stop": ["small", "spot"]}


def run(monkeypatch: pytest.MonkeyPatch, answer: Any, *arguments: str) -> tuple[Result, list[dict[str, Any]]]:
    asked: list[dict[str, Any]] = []

    class Function:
        def invoke(self, **request: Any) -> dict[str, Any]:
            asked.append({**json.loads(request["Payload"]), "function": request["FunctionName"]})
            if isinstance(answer, Exception):
                raise answer
            return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    monkeypatch.setattr(boto3, "client", lambda *_, **__: Function())
    monkeypatch.setattr("cli.budget.signed_url", lambda region, bound_to: f"https://sts.{region}/?for={bound_to}")
    monkeypatch.setenv("COLUMNS", "140")
    return CliRunner().invoke(app, ["budget", *arguments]), asked


def test_status_shows_every_budget_its_prices_and_what_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    result, asked = run(monkeypatch, ANSWER, "status", "prod")

    assert result.exit_code == 0
    assert asked == [{"action": "status", "function": "neuron-fleet-prod-budgets"}]
    assert "[1] on-demand, as of 2026-08-01" in result.output
    assert "120 %" in result.output
    assert "all owners: at least, for 1 days have no ledger, the first of them 2026-11-05" in result.output
    assert "Stop of 2026-11: stopped since 2026-11-20T12:35:00+00:00 by arn:ada; closed: small." in result.output


@pytest.mark.parametrize("action", ["approve", "resume"])
def test_a_decision_is_signed_for_itself(monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    result, asked = run(monkeypatch, ANSWER, action, "prod", "--json")

    assert json.loads(result.output)["closed"] == ["small"]
    assert asked[0]["signed_url"] == f"https://sts.us-east-2/?for=prod/{action}/budget"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"refused": "arn:bo is not in budgets.approvers"}, "refused: arn:bo is not in budgets.approvers"),
        (client_error("ResourceNotFoundException", "Invoke"), "is not deployed: cdk deploy -c env=prod '**'"),
        (EndpointConnectionError(endpoint_url="https://lambda"), "did not answer"),
    ],
)
def test_what_cannot_be_done_is_one_line(monkeypatch: pytest.MonkeyPatch, answer: Any, said: str) -> None:
    result, _ = run(monkeypatch, answer, "approve", "prod")

    assert result.exit_code == 1
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
