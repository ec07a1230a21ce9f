"""`fleet prices refresh`: what the function answers, and one line when it does not."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner, Result

from cli.main import app
from tests.support.aws_fakes import client_error


def refresh(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | Exception) -> Result:
    class Client:
        def invoke(self, **request: Any) -> dict[str, Any]:
            assert request == {"FunctionName": "neuron-fleet-prod-prices", "Payload": b"{}"}
            if isinstance(answer, Exception):
                raise answer
            return {**answer, "Payload": io.BytesIO(json.dumps(answer["Payload"]).encode())}

    monkeypatch.setattr("cli.functions.boto3.client", lambda *_, **__: Client())
    return CliRunner().invoke(app, ["prices", "refresh", "prod"])


def test_what_could_not_be_read_is_said_and_the_rest_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    done = {"refreshed": ["a", "b"], "problems": ["on-demand: inf2.xlarge: throttled"], "absent": []}
    told = refresh(monkeypatch, {"Payload": done})

    assert told.exit_code == 0
    assert told.stdout == "not refreshed: on-demand: inf2.xlarge: throttled\n2 prices refreshed, 1 problems\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"FunctionError": "Unhandled", "Payload": {"errorMessage": "no price could be refreshed"}},
            "nothing was refr",
        ),
        (
            EndpointConnectionError(endpoint_url="https://lambda"),
            "AWS did not answer lambda:Invoke of neuron-fleet-prod-prices in us-east-2",
        ),
        (
            client_error("ResourceNotFoundException", "Invoke"),
            "neuron-fleet-prod-prices is not deployed: cdk deploy -c env=prod",
        ),
    ],
)
def test_no_refresh_is_one_line(monkeypatch: pytest.MonkeyPatch, answer: Any, said: str) -> None:
    told = refresh(monkeypatch, answer)

    assert told.exit_code == 1
    assert told.output.startswith(said)
    assert told.output.count("\n") == 1
